// The measured servers: their databases, their processes and their requests.
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { copyFileSync, existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import { readConfig } from '@plant-store/engine'
import { request } from '../support/servers/start-product.ts'
import { start as startProcess } from '../support/processes/programs.ts'
import { freePort } from '../support/network/ports.ts'
import { cpuOf } from '../support/figures/process-usage.ts'
import { run } from './load.ts'

/** `small` only lists; `creator` creates and deletes; `many` are callers with 20 plants each. */
type Caller = 'small' | 'creator' | 'many'

/** How many plants the caller `small` has, and how many callers `many` are. */
export type Sizes = Readonly<Record<'small' | 'many', number>>

/** A kind of measured request, and its answer. `ID` stands for an id, another one in each request. */
export interface Case {
  readonly name: string
  readonly caller: Caller
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: string
  readonly status: number
  readonly answer: string
}

/** A server with a filled database, ready to start. */
export type Server = ReturnType<typeof serverOf>
export type Running = Awaited<ReturnType<typeof start>>

/** All ids have as many digits as this. */
const ID = '##########'
const FIRST_ID = 1_000_000_000
export const BARE = 'bare Fastify'
export const TUNED = 'written by hand'
/** The content of every plant. */
export const PLANT = { name: 'Plant 0000000001', tag: 'indoor' } as const

/** A list of so many plants, as JSON. */
export function listOf(count: number): string {
  return JSON.stringify(Array.from({ length: count }, () => PLANT))
}

/** All cases. Creates come before deletes. */
export function casesOf({ small, many }: Sizes): Case[] {
  const list = { method: 'GET', status: 200 } as const
  const twenty = { ...list, path: '/plants?limit=20', answer: listOf(20) }
  const [plants, callers] = [small, many].map((number) => number.toLocaleString('en'))
  const answer = JSON.stringify(PLANT)
  const body = `{"id":${ID},${answer.slice(1)}`
  const create = { method: 'POST', path: '/plants', body, status: 200, answer } as const
  return [
    { ...twenty, name: `list of 20, ${callers} callers in turn`, caller: 'many' },
    { ...twenty, name: `list of 20 among ${plants}`, caller: 'small' },
    { ...create, name: 'create', caller: 'creator' },
    { ...create, name: `create, ${callers} owners in turn`, caller: 'many' },
    {
      name: 'delete',
      caller: 'creator',
      method: 'DELETE',
      path: `/plants/${ID}`,
      status: 204,
      answer: '',
    },
    { ...list, name: `list of ${plants}`, caller: 'small', path: '/plants', answer: listOf(small) },
  ]
}

interface Settings {
  readonly name: string
  /** The arguments of Node. */
  readonly program: string
  readonly environment: Readonly<Record<string, string>>
  /** Those of each caller: of `many` each has one. */
  readonly tokens: Readonly<Record<Caller, readonly string[]>>
  /** It has some version of this project. */
  readonly folder: string
}

function serverOf(settings: Settings) {
  /** How many requests it was sent, by caller and method. */
  const sent = new Map<string, number>()
  return { ...settings, sent }
}

export function bareFastify({ small, many }: Sizes): Server {
  const tokens = {
    small: ['small'],
    creator: ['creator'],
    many: Array.from({ length: many }, () => randomUUID()),
  }
  return serverOf({
    name: BARE,
    program: 'test/bench/bare.ts',
    environment: { SMALL: String(small) },
    tokens,
    folder: '.',
  })
}

/** Imports a file of `test/support` of a version. @param names its name there, and in older versions */
function importOf<Module>(folder: string, names: readonly string[]): Promise<Module> {
  const paths = names.map((name) => resolve(folder, 'test/support', name))
  const path = paths.find((name) => existsSync(name))
  return import(String(path))
}

/** The service as in production, on a new database, which its version of the code fills. @param folder of its version */
export async function serviceOn(
  name: string,
  url: string,
  { small, many }: Sizes,
  folder = '.',
): Promise<Server> {
  const { openTestStore } = await importOf<typeof import('../support/stores/open-store.ts')>(
    folder,
    ['stores/open-store.ts', 'stores.ts'],
  )
  const { issueToken } = await importOf<typeof import('../support/servers/access-tokens.ts')>(
    folder,
    ['servers/access-tokens.ts', 'tokens.ts'],
  )
  const config = readConfig('plants', { DATABASE_URL: url, DATABASE_TIMEOUT: '15' }) // on a busy machine, too
  const store = await openTestStore(config.DATABASE_URL, { settings: config })
  const issue = (caller: string) => issueToken(store, caller)
  const create = (caller: string, id: number) => store.create(caller, BigInt(id), PLANT)
  const tokens = {
    small: [await issue('small')],
    creator: [await issue('creator')],
    many: [] as string[],
  }
  // In parts: a store refuses a write after too long a wait.
  for (let id = 1; id <= small; id += 1000) {
    await Promise.all(
      Array.from({ length: Math.min(1000, small - id + 1) }, (_, at) => create('small', id + at)),
    )
  }
  const callers = Array.from({ length: many }, (_, index) => `caller ${index + 1}`)
  while (callers.length > 0) {
    const batch = callers.splice(0, 1000)
    tokens.many.push(...(await Promise.all(batch.map(issue))))
    for (let id = 1; id <= 20; id++) await Promise.all(batch.map((caller) => create(caller, id)))
  }
  await store.close()
  const program = 'test/support/product/main.ts'
  return serverOf({ name, program, environment: { DATABASE_URL: url }, tokens, folder })
}

/** The program written by hand, on a copy of the file of a service. @param file of the copy */
export function tunedOn({ tokens, environment }: Server, file: string): Server {
  copyFileSync(String(environment['DATABASE_URL']).replace('sqlite:', ''), file)
  const program = 'test/bench/tuned.ts'
  return serverOf({
    name: TUNED,
    program,
    environment: { DATABASE_URL: `sqlite:${file}` },
    tokens,
    folder: '.',
  })
}

/** Whether programs can be held to one core each: the servers to the first, the load to the second. */
export const isPinned = ['0', '1'].every(
  (core) => spawnSync('taskset', ['-c', core, 'true']).status === 0,
)

/** Starts a server, compiled before as with `npm start`. Its output goes to a file. */
export async function start(t: Pick<Test, 'teardown'>, server: Server, printed: string) {
  const port = await freePort()
  const pinned = isPinned ? ['taskset', '-c', '0'] : []
  const command = [
    'sh',
    '-c',
    'exec "$@" > "$0" 2>&1',
    resolve(printed),
    ...pinned,
    process.execPath,
    server.program,
  ]
  const environment = { ...server.environment, PORT: String(port), NODE_ENV: 'production' }
  const begun = performance.now()
  const { child, ended } = await startProcess(t, command, environment, {
    cwd: server.folder,
  })
  const list = () =>
    request(port, { path: '/plants?limit=20', token: server.tokens.small[0] ?? '' })
  while ((await list().catch(() => undefined))?.status !== 200) {
    if (child.exitCode !== null || performance.now() > begun + 30_000)
      throw new Error(`see ${printed}: it does not start`)
    await delay(1)
  }
  /** Milliseconds from its start to its first answer, which needs a token. */
  const started = performance.now() - begun
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  return { ...server, port, pid: child.pid, started, stop }
}

/**
 * Puts a load on a server for a second, and checks its answers. Deletes end when nothing is left; a correct one proves its
 * create.
 * @throws {Error} for a wrong answer: the figures mean nothing then
 */
export async function measure(server: Running, benchCase: Case, connections: number) {
  const { port, sent, pid } = server
  const { name, method, path, body = '', status, answer } = benchCase
  const tokens = server.tokens[benchCase.caller]
  const what = `${server.name}, ${name}, ${connections} connections`
  const isList = method === 'GET'
  const listed = isList && (await request(port, { path, token: tokens[0] ?? '' })).text
  if (isList && listed !== answer) throw new Error(`${what}: the list is wrong`)
  const line = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer `
  const type =
    body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
  const countSent = (kind: Case['method']) => sent.get(`${benchCase.caller} ${kind}`) ?? 0
  const next = () => {
    const number = countSent(method)
    if (method === 'DELETE' && number === countSent('POST')) return undefined
    sent.set(`${benchCase.caller} ${method}`, number + 1)
    const id = String(FIRST_ID + number)
    return `${line.replace(ID, id)}${tokens[number % tokens.length]}\r\n${type}\r\n${body.replace(ID, id)}`
  }
  const times: number[] = []
  const wrong: number[] = []
  const before = cpuOf(pid)
  const took = await run({ port, connections, seconds: 1, next }, (got) => {
    // A body in chunks is longer.
    const isWhole = got.length === answer.length || (isList && got.length > answer.length)
    if (got.status === status && isWhole) times.push(got.time)
    else wrong.push(got.status)
  })
  /** Milliseconds of processor time of the server for 1,000 requests. */
  const cpu = ((cpuOf(pid) - before) * 1e6) / times.length
  const total = times.length + wrong.length
  if (wrong.length > 0)
    throw new Error(
      `${what}: ${wrong.length} of ${total} answers were wrong, the first one ${wrong[0]}`,
    )
  times.sort((left, two) => left - two)
  /** The median and the 99th percentile of the latency, in milliseconds. */
  const [p50 = NaN, p99 = NaN] = [0.5, 0.99].map((share) => times[Math.floor(times.length * share)])
  return { rate: (times.length * 1000) / took, p50, p99, cpu }
}
