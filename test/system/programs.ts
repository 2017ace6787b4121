import { type ChildProcess, spawnSync } from 'node:child_process'
import { eventually } from '../support/project.ts'

/** Fails if a program is missing, and names the Debian package that has it. */
export function need(program: string, of = program): void {
  const { error } = spawnSync(program, ['-h'])
  if (error) throw new Error(`${program} is missing: apt-get install --yes ${of}`)
}

/** The token that a service prints at its first start. @returns an empty text if it ends before */
export async function demoToken({ child, printed }: { child: ChildProcess; printed: { stderr: string } }) {
  const find = () => /plant_\w{48}/.exec(printed.stderr)?.[0]
  await eventually(() => find() !== undefined || child.exitCode !== null || child.signalCode !== null)
  return find() ?? ''
}
