import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import http from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../support/project.ts'
import type { Server } from './servers.ts'

/** A process of a server. */
export interface Running extends Server {
  readonly port: number
  /** Milliseconds from its start to its first answer, which needs a token. */
  readonly started: number
  /** Milliseconds of processor time that it has used. */
  readonly cpu: () => number
  /** Bytes of memory that it has (resident set). */
  readonly memory: () => number
  readonly stop: () => Promise<void>
}

/** Whether programs can be held to one core each: the servers to the first, the load to the second. */
export const isPinned = ['0', '1'].every((core) => spawnSync('taskset', ['-c', core, 'true']).status === 0)

/** Holds this process, and the load generators that it starts from now on, to the core of the load. */
export function pinLoad(): void {
  if (isPinned) spawnSync('taskset', ['-acp', '1', String(process.pid)])
}

const children = new Set<ChildProcess>()
process.on('exit', () => children.forEach((child) => child.kill('SIGKILL')))

/** Starts a server, compiled before as with `npm start`. What it prints goes to a file. */
export async function start(server: Server, folder: string): Promise<Running> {
  const port = await freePort()
  const printed = `${folder}/${server.name.replaceAll(/\W+/g, '-')}.log`
  const output = openSync(printed, 'a')
  const command = [process.execPath, server.program] as const
  const [file, ...words] = isPinned ? (['taskset', '-c', '0', ...command] as const) : command
  const begun = performance.now()
  const child = spawn(file, words, {
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: 'node_modules/.cache',
      PORT: String(port),
      ...server.environment,
    },
    cwd: server.folder,
    stdio: ['ignore', output, output],
  })
  closeSync(output)
  children.add(child.once('exit', () => children.delete(child)))
  const { pid } = child
  if (pid === undefined) throw new Error(`${server.name} does not start`)
  while (!(await answers(port, server.tokens.small))) {
    if (child.exitCode !== null || performance.now() > begun + 30_000) {
      child.kill('SIGKILL')
      throw new Error(`${server.name} does not start: ${readFileSync(printed, 'utf8').slice(-2000)}`)
    }
    await delay(1)
  }
  const started = performance.now() - begun
  return {
    ...server,
    port,
    started,
    cpu: () => {
      // https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html: utime and stime, in hundredths of a second.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      return (Number(fields[11]) + Number(fields[12])) * 10
    },
    memory: () => {
      const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
      return Number(kilobytes) * 1024
    },
    stop: async () => {
      if (child.exitCode !== null || !child.kill('SIGTERM')) return
      await once(child, 'exit')
    },
  }
}

/** Whether a server answers a request that needs a token. */
async function answers(port: number, token: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const headers = { authorization: `Bearer ${token}` }
  const signal = AbortSignal.timeout(10_000)
  http
    .get({ port, host: '127.0.0.1', path: '/plants?limit=20', headers, signal, agent: false })
    .on('response', (response) => resolve(response.resume().statusCode === 200))
    .on('error', () => resolve(false))
  return promise
}
