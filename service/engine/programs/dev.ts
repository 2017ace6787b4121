// `npm run dev`: runs the service for development. The first process watches the code, and after each change it restarts
// the second process, which is the service. That one watches the contract, and serves each change without a restart,
// because this is faster. The first process also prints what `npm run check` would say of the contract and the types.
import { type ChildProcess, execFile, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, watch } from 'node:fs'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { enableCompileCache } from 'node:module'
import { constants, setPriority } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Parts } from '../app.ts'
import type { Product } from '../define-product.ts'
import { readWords, runCommand } from './command.ts'
import { reasonOf } from '../errors.ts'
import type { Running } from './start.ts'

const USAGE = 'usage: dev   runs the service, which follows its contract and its code while they change'
/** The words with which the command runs itself again. */
const SERVICE = 'service'
const GENERATE = 'generate'
/** The program that was started, and the folder with the code. */
const PROGRAM = String(process.argv[1])
const CODE = dirname(PROGRAM)
const LINT = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'))
const TSC = fileURLToPath(import.meta.resolve('typescript/bin/tsc'))
const CACHE = join(CODE, '../.dev/cache')
const LAST_GOOD = join(CODE, '../.dev/openapi.yaml')
const TYPES = join(CODE, '../.dev/tsconfig.json')
/** The types of the service only, checked anew only where they have changed. */
const TYPES_OF_SERVICE = {
  extends: '../tsconfig.json',
  compilerOptions: { incremental: true, tsBuildInfoFile: 'types.json', pretty: false },
  include: [CODE],
}
/** Milliseconds to wait for further changes: editors write a file in several steps. */
const DEBOUNCE_TIMEOUT = 50

/** Runs the command, or one of its processes. @param load imports the product */
export async function dev(load: () => Promise<{ product: Product }>): Promise<void> {
  if (process.argv[2] === SERVICE) {
    enableCompileCache(CACHE)
    process.once('disconnect', () => process.exit())
    const { product } = await load() // before the log is opened, so that Node prints the place of a fault in the code
    await (await import('./start.ts')).runService(product, serveContract)
  } else if (process.argv[2] === GENERATE) {
    const { product } = await load()
    process.argv.splice(2, 1)
    await (await import('./generate.ts')).generate(product)
  } else {
    await runCommand(USAGE, async (words) => {
      readWords(words, [], {})
      await mkdir(dirname(TYPES), { recursive: true })
      await writeFile(TYPES, JSON.stringify(TYPES_OF_SERVICE))
      serveCode()
    })
  }
}

function serveCode(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit()) // ends the checks, too
  let service: ChildProcess | undefined
  const start = async () => {
    if (service?.kill('SIGKILL') === true) await once(service, 'exit') // a regular stop would take longer
    service = fork(PROGRAM, [SERVICE])
  }
  // Generated types have no effect at run time.
  watchFiles(CODE, (file) => file.endsWith('.ts') && !file.endsWith('.gen.ts'), start, start())
  // The service generates the types at its start and at each change of the contract, unless it refuses the contract.
  const checks = [
    checker('openapi.yaml', LINT, 'lint', 'openapi.yaml', '--format=stylish'),
    checker('types', TSC, '-p', TYPES),
  ]
  const check = async () => checks.forEach((each) => each())
  watchFiles(CODE, (file) => file.endsWith('.gen.ts'), check, Promise.resolve())
}

/**
 * Runs a program that checks something, and prints what it finds, unless it has found the same before.
 * @param name of what is checked
 * @param words the program, and its arguments
 * @returns begins a check; one that still runs is given up
 */
function checker(name: string, ...words: string[]): () => void {
  let running: ChildProcess | undefined
  let said = ''
  process.once('exit', () => running?.kill())
  return () => {
    running?.kill()
    running = execFile(process.execPath, words, (fault, found) => {
      if (fault?.killed === true || found === said) return
      console.error(found || `${name}: nothing is left to fix`)
      said = found
    })
    setPriority(Number(running.pid), constants.priority.PRIORITY_LOW) // a reload goes first
  }
}

/** Serves the contract, and reloads it after changes. A broken one is not served: the last good one stays. */
async function serveContract(parts: Parts): Promise<Running> {
  const { buildApp, fileOf } = await import('../app.ts')
  const { listen } = await import('../http/server.ts')
  const file = fileOf(parts.product)
  const running: Running = {}
  let generating: ChildProcess | undefined

  /** @returns whether the contract is good */
  const serve = async (contract: string): Promise<boolean> => {
    const next = await buildApp({ ...parts, contract, draft: true }).catch((error: unknown) => {
      parts.log.error(reasonOf(error))
    })
    if (next === undefined) return false
    running.app?.server.closeAllConnections()
    await running.app?.close()
    running.app = next
    await listen(next, parts.config.HOST, parts.config.PORT, 'PORT', next.contract.prefix)
    return true
  }
  const update = async (): Promise<boolean> => {
    if (!(await serve(file))) return false
    await copyFile(file, LAST_GOOD)
    generating?.kill() // It may have read the previous contract.
    generating = spawn(process.execPath, [PROGRAM, GENERATE], { stdio: 'inherit' })
    return true
  }

  const started = update().then((isGood) => isGood || (existsSync(LAST_GOOD) && serve(LAST_GOOD)))
  watchFiles(dirname(file), (each) => each === basename(file), update, started)
  await started
  return running
}

/** Runs a task after each change of some files in a folder. @param previous must end before the task begins */
function watchFiles(
  folder: string,
  isWatched: (file: string) => boolean,
  task: () => Promise<unknown>,
  previous: Promise<unknown>,
): void {
  let timer: NodeJS.Timeout | undefined
  watch(folder, { recursive: folder === CODE }, (_event, file) => {
    if (file === null || !isWatched(file)) return
    clearTimeout(timer)
    timer = setTimeout(() => (previous = previous.then(task)), DEBOUNCE_TIMEOUT)
  })
}
