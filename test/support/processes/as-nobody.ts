// PostgreSQL refuses to run as root. As root, the tests run it as nobody.
import { chownSync } from 'node:fs'

/** The number of this user, and of its group. */
export const NOBODY = 65_534
const isRoot = process.getuid?.() === 0
const user = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
// With this capability it reads the packages, the project and its folder also where only root may enter. access(2), by
// which PostgreSQL looks for its programs, goes by capabilities only with this bit (capabilities(7)).
const capability = [
  '--inh-caps=+dac_override',
  '--ambient-caps=+dac_override',
  '--securebits=+no_setuid_fixup',
]

/** A command as nobody if this process is root. The files of root stay in its reach. */
export function asNobody(command: readonly string[]): readonly [string, ...string[]] {
  const [file = '', ...words] = isRoot ? ['setpriv', ...user, ...capability, ...command] : command
  return [file, ...words]
}

/** Makes nobody the owner of a folder if this process is root. */
export function giveToNobody(folder: string): void {
  if (isRoot) chownSync(folder, NOBODY, NOBODY)
}
