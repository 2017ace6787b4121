// Starts programs as processes, and waits for their output.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import { eventually } from './eventually.ts'

/** The environment of a process. It has only the variables that a process needs, and a cache for speed. */
const BASE = {
  PATH: process.env['PATH'] ?? '',
  NODE_V8_COVERAGE: process.env['NODE_V8_COVERAGE'] ?? '',
  NODE_COMPILE_CACHE: `${process.cwd()}/node_modules/.cache`,
  ADMIN_PORT: '0',
  DRAIN_DELAY: '0',
}

/** A program of the tests' product, as a command. */
export function program(
  name: 'main' | 'token' | 'backup' | 'copy' | 'generate' | 'dev',
  ...words: string[]
): string[] {
  return [process.execPath, `test/support/product/${name}.ts`, ...words]
}

/** Starts Node without tap's hooks, which catch signals. @param code of a module to load before the program */
export function nodeAfter(code: string, ...words: string[]): string[] {
  const hook = `data:text/javascript,${encodeURIComponent(code)}`
  return ['env', '-u', 'NODE_OPTIONS', process.execPath, '--import', hook, ...words]
}

/** Starts the tests' product. */
export const MAIN: readonly string[] = program('main')

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** The lines of a log: each one is JSON. */
export function linesOf(stdout: string): Record<string, unknown>[] {
  const lines = stdout.split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line))
}

/** Runs a command to its end. */
export async function run(
  command: readonly string[],
  environment: Record<string, string>,
  cwd = '.',
): Promise<Ended> {
  return (await start(undefined, command, environment, { cwd })).ended
}

/**
 * Starts a command. The test ends it if it still runs.
 * @param place `cwd`: its folder; `isDetached`: whether the process leads its own process group, as in a shell
 */
export async function start(
  t: Pick<Test, 'teardown'> | undefined,
  command: readonly string[],
  environment: Record<string, string>,
  { cwd = '.', isDetached = false } = {},
) {
  const [file = '', ...words] = command
  const child = spawn(file, words, {
    cwd,
    detached: isDetached,
    env: { ...BASE, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => (printed.stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (printed.stderr += chunk.toString()))
  const ended = Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]).then(
    ([[code, signal], stdout, stderr]): Ended => ({ code, signal, stdout, stderr }),
  )
  const isOver = () => child.exitCode !== null || child.signalCode !== null
  t?.teardown(async () => {
    const pid = Number(child.pid)
    if (!isOver()) process.kill(isDetached ? -pid : pid, 'SIGKILL')
    await ended
  })
  return {
    child,
    ended,
    printed,
    /** Waits for a pattern on standard output. */
    until: async (pattern: RegExp): Promise<RegExpExecArray> => {
      const report = () => `${pattern.source} in ${printed.stdout}${printed.stderr}`
      await eventually(() => isOver() || pattern.test(printed.stdout), report)
      const match = pattern.exec(printed.stdout)
      if (match === null) throw new Error(`no ${report()}`)
      return match
    },
  }
}

/** Starts the tests' product on free ports, as in production, and waits until it listens. */
export async function startService(
  t: Test | undefined,
  environment: Record<string, string>,
  command = MAIN,
) {
  const service = await start(t, command, { PORT: '0', NODE_ENV: 'production', ...environment })
  const [, port] = await service.until(/listening at http:[^"]*:(\d+)"/)
  const [, adminPort] = await service.until(/"port":(\d+),"msg":"admin port open"/)
  return { ...service, port: Number(port), adminPort: Number(adminPort) }
}
