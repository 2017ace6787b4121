// The servers that are measured: their databases, and their processes.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { readConfig } from '../../service/engine/config.ts'
import type { Server as Postgres } from '../support/postgres.ts'
import { freePort } from '../support/project.ts'
import { openTestStore } from '../support/stores.ts'
import { issueToken } from '../support/tokens.ts'
import { cpuOf, memoryOf } from '../support/usage.ts'
import { type Case, PLANT } from './cases.ts'

/** `small` only lists; `creator` creates and deletes; `many` are callers with 20 plants each. */
export type Caller = 'small' | 'creator' | 'many'

/** How many plants the caller `small` has, and how many callers `many` are. */
export interface Sizes {
  readonly small: number
  readonly many: number
}

/** A server that can be started: its program, and its database. */
export interface Server {
  readonly name: string
  /** The file that Node runs. */
  readonly program: string
  readonly environment: Readonly<Record<string, string>>
  /** The access tokens of each caller: of `many` each has one. */
  readonly tokens: Readonly<Record<Caller, readonly string[]>>
  /** How many plants of `creator` its database has; absent if it has no database. */
  readonly count?: () => Promise<number>
  /** How many requests of each kind it was sent. */
  readonly sent: Record<Case['does'], number>
}

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

const NONE = { creates: 0, lists: 0, deletes: 0 } as const
const COUNT = "SELECT count(*) AS count FROM plants WHERE owner = 'creator'"
export const BARE = 'bare Fastify'

export function bareFastify({ small, many }: Sizes): Server {
  return {
    name: BARE,
    program: 'test/bench/bare.ts',
    environment: { SMALL: String(small) },
    tokens: { small: ['small'], creator: ['creator'], many: callersOf(many).map(() => randomUUID()) },
    sent: { ...NONE },
  }
}

/** This service on SQLite, as in production. */
export async function serviceOnSqlite(file: string, sizes: Sizes): Promise<Server> {
  return serviceOn('this service, SQLite', `sqlite:${file}`, sizes, async () => countIn(file))
}

/** This service on PostgreSQL, as in production. */
export async function serviceOnPostgres(postgres: Postgres, sizes: Sizes): Promise<Server> {
  const url = await postgres.createDatabase()
  const count = async () => Number((await postgres.sql(COUNT, url))[0]?.['count'])
  const server = await serviceOn('this service, PostgreSQL', url, sizes, count)
  await postgres.sql('VACUUM ANALYZE', url)
  return server
}

async function serviceOn(name: string, url: string, { small, many }: Sizes, count: () => Promise<number>) {
  const store = await openTestStore(readConfig('plants', { DATABASE_URL: url }).DATABASE_URL)
  const issue = (caller: string) => issueToken(store, caller)
  const create = (caller: string, id: number) => store.create(caller, BigInt(id), PLANT)
  const tokens = { small: [await issue('small')], creator: [await issue('creator')], many: [] as string[] }
  // In parts: a store refuses a write that has waited too long.
  for (let id = 1; id <= small; id += 1000) {
    await Promise.all(Array.from({ length: Math.min(1000, small - id + 1) }, (_, at) => create('small', id + at)))
  }
  const callers = callersOf(many)
  while (callers.length > 0) {
    const some = callers.splice(0, 1000)
    tokens.many.push(...(await Promise.all(some.map(issue))))
    for (let id = 1; id <= 20; id++) await Promise.all(some.map((caller) => create(caller, id)))
  }
  await store.close()
  const environment = { ADMIN_PORT: '0', DRAIN_DELAY: '0', DATABASE_URL: url }
  return { name, program: 'test/support/product/main.ts', environment, tokens, count, sent: { ...NONE } }
}

/** The straightforward version of the service, on SQLite. */
export function straightforward(file: string, { small, many }: Sizes): Server {
  const callers = callersOf(many)
  const tokens = new Map(['small', 'creator', ...callers].map((caller) => [caller, randomUUID()]))
  writeFileSync(
    `${file}.json`,
    JSON.stringify(Object.fromEntries([...tokens].map(([caller, token]) => [token, caller]))),
  )
  const db = new DatabaseSync(file)
  db.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE plants (owner TEXT NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, tag TEXT, PRIMARY KEY (owner, id))
      WITHOUT ROWID;
    BEGIN`)
  const insert = db.prepare('INSERT INTO plants VALUES (?, ?, ?, ?)')
  const fill = (caller: string, count: number) => {
    for (let id = 1; id <= count; id++) insert.run(caller, id, PLANT.name, PLANT.tag)
  }
  fill('small', small)
  for (const caller of callers) fill(caller, 20)
  db.exec('COMMIT')
  db.close()
  const [one = '', two = '', ...rest] = tokens.values()
  return {
    name: 'straightforward, SQLite',
    program: 'test/bench/straightforward.ts',
    environment: { FILE: file, TOKENS: `${file}.json` },
    tokens: { small: [one], creator: [two], many: rest },
    count: async () => countIn(file),
    sent: { ...NONE },
  }
}

function callersOf(many: number): string[] {
  return Array.from({ length: many }, (_, index) => `caller ${index + 1}`)
}

function countIn(file: string): number {
  const db = new DatabaseSync(file, { readOnly: true })
  const row = db.prepare(COUNT).get()
  db.close()
  return Number(row?.['count'])
}

/** Whether programs can be held to one core each: the servers to the first, the load to the second. */
export const isPinned = ['0', '1'].every((core) => spawnSync('taskset', ['-c', core, 'true']).status === 0)

const children = new Set<ChildProcess>()
process.on('exit', () => children.forEach((child) => child.kill('SIGKILL')))

/** Starts a server, compiled before as with `npm start`. What it prints goes to a file. */
export async function start(server: Server, folder: string): Promise<Running> {
  const port = await freePort()
  const printed = `${folder}/${server.name.replaceAll(/\W+/g, '-')}.log`
  const output = openSync(printed, 'a')
  const command = [process.execPath, server.program] as const
  const [file, ...words] = isPinned ? (['taskset', '-c', '0', ...command] as const) : command
  const env = {
    ...{ PATH: process.env['PATH'], NODE_COMPILE_CACHE: 'node_modules/.cache', NODE_ENV: 'production' },
    ...{ PORT: String(port), ...server.environment },
  }
  const begun = performance.now()
  const child = spawn(file, words, { env, stdio: ['ignore', output, output] })
  closeSync(output)
  children.add(child.once('exit', () => children.delete(child)))
  const headers = { authorization: `Bearer ${server.tokens.small[0]}`, connection: 'close' }
  const isUp = () =>
    fetch(`http://127.0.0.1:${port}/plants?limit=20`, { headers }).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await isUp())) {
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
    cpu: () => cpuOf(child.pid) * 1000,
    memory: () => memoryOf(child.pid),
    stop: async () => {
      if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit')
    },
  }
}
