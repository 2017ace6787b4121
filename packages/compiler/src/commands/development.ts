// Loads the programs that need the packages for development, which `npm ci --omit=dev` leaves out.
import { printError } from '@plant-store/engine'

const ADVICE = 'install the packages for development by `npm ci --include=dev`'

/** Imports a program. If a package of it is absent, the process ends, with a line of advice. */
export async function loadProgram<Program>(load: () => Promise<Program>): Promise<Program> {
  try {
    return await load()
  } catch (error) {
    const name = absentPackage(error)
    if (name === undefined) throw error
    printError([`the package ${name} is not installed: ${ADVICE}`])
    process.exit(1)
  }
}

/** The package that an import has not found: https://nodejs.org/api/errors.html#err_module_not_found */
function absentPackage(error: unknown): string | undefined {
  const isAbsent =
    error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
  return isAbsent ? /^Cannot find package '(.+?)'/.exec(error.message)?.[1] : undefined
}
