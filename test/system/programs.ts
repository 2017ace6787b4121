import { spawnSync } from 'node:child_process'

/** Fails if a program is missing, and names the Debian package that has it. */
export function need(program: string, of = program): void {
  const { error } = spawnSync(program, ['-h'])
  if (error) throw new Error(`${program} is missing: apt-get install --yes ${of}`)
}
