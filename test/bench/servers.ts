import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { readConfig } from '../../service/engine/config.ts'
import type { Server as Postgres } from '../support/postgres.ts'
import { batchesOf, CALLERS, manyCallers, plantOf, type Sizes, type Tokens } from './data.ts'
import { openTestStore } from '../support/stores.ts'
import { issueToken } from '../support/tokens.ts'

/** A server that can be started: its program, and its database with the plants to begin with. */
export interface Server {
  readonly name: string
  /** The file that Node runs, and the folder that it runs in; the present one if absent. */
  readonly program: string
  readonly folder?: string
  readonly environment: Readonly<Record<string, string>>
  readonly tokens: Tokens
  /** How many plants of a caller its database has; absent if it has no database. */
  readonly count?: (caller: string) => Promise<number>
}

/** All servers that are compared, bare Fastify first, with the plants to begin with. @param folder for their files */
export async function prepareServers(folder: string, postgres: Postgres, sizes: Sizes): Promise<Server[]> {
  return [
    bareFastify(folder, sizes),
    await serviceOn('SQLite', `sqlite:${folder}/service.db`, folder, sizes),
    await straightforwardOn('SQLite', `sqlite:${folder}/straightforward.db`, folder, sizes),
    await serviceOn('PostgreSQL', await postgres.createDatabase(), folder, sizes),
    await straightforwardOn('PostgreSQL', await postgres.createDatabase(), folder, sizes),
  ]
}

export const BARE = 'bare Fastify'

export function bareFastify(folder: string, sizes: Sizes): Server {
  return {
    name: BARE,
    program: 'test/bench/bare.ts',
    environment: { NODE_ENV: 'production', SMALL: String(sizes.small) },
    tokens: writeTokens(`${folder}/bare.tokens`, randomTokens(sizes)),
  }
}

/** This service, as in production. Its empty database gets the plants to begin with. */
export async function serviceOn(name: string, url: string, folder: string, sizes: Sizes): Promise<Server> {
  // A power cut would cost only the bench: it need not wait for the disk here.
  const fast = url.startsWith('postgres:') ? `${url}?options=-c%20synchronous_commit=off` : url
  const store = await openTestStore(readConfig('plants', { DATABASE_URL: fast }).DATABASE_URL)
  for (const batch of batchesOf(sizes, 1000)) {
    await Promise.all(batch.map(({ owner, id }) => store.create(owner, BigInt(id), plantOf(id))))
  }
  const issued = new Map<string, string>()
  const issue = async (caller: string) => issued.set(caller, await issueToken(store, caller))
  const callers = [...CALLERS, ...manyCallers(sizes)]
  // In parts: a store refuses a write that has waited too long.
  while (callers.length > 0) await Promise.all(callers.splice(0, 1000).map(issue))
  await store.close()
  if (url.startsWith('postgres:')) await query(url, 'VACUUM ANALYZE')
  const tokens = writeTokens(`${folder}/service-${name}.tokens`, issued)
  return {
    name: `this service, ${name}`,
    program: 'test/support/product/main.ts',
    environment: { NODE_ENV: 'production', ADMIN_PORT: '0', DRAIN_DELAY: '0', DATABASE_URL: url },
    tokens,
    count: (caller) => countIn(url, caller),
  }
}

/** The straightforward version of the service. Its empty database gets the plants to begin with. */
export async function straightforwardOn(name: string, url: string, folder: string, sizes: Sizes): Promise<Server> {
  const { fill } = await (url.startsWith('postgres:')
    ? import('./straightforward.postgres.ts')
    : import('./straightforward.sqlite.ts'))
  await fill(url, sizes)
  const issued = randomTokens(sizes)
  const file = `${folder}/straightforward-${name}.json`
  writeFileSync(file, JSON.stringify(Object.fromEntries([...issued].map(([caller, token]) => [token, caller]))))
  const tokens = writeTokens(`${folder}/straightforward-${name}.tokens`, issued)
  return {
    name: `straightforward, ${name}`,
    program: 'test/bench/straightforward.ts',
    environment: { NODE_ENV: 'production', DATABASE_URL: url, TOKENS: file },
    tokens,
    count: (caller) => countIn(url, caller),
  }
}

/** A token for each caller, by the caller's name. */
function randomTokens(sizes: Sizes): Map<string, string> {
  return new Map([...CALLERS, ...manyCallers(sizes)].map((caller) => [caller, randomUUID()]))
}

/** Writes the tokens of many callers into a file. @param issued by caller */
function writeTokens(file: string, issued: ReadonlyMap<string, string>): Tokens {
  const [small = '', large = '', creator = '', deleter = ''] = CALLERS.map((caller) => issued.get(caller))
  const many = [...issued].filter(([caller]) => caller.startsWith('caller '))
  writeFileSync(file, many.map(([, token]) => `${token}\n`).join(''))
  return { small, large, creator, deleter, many: file }
}

/** How many plants of a caller a database has, whichever server keeps them there. */
export async function countIn(url: string, caller: string): Promise<number> {
  if (url.startsWith('sqlite:')) {
    const db = new DatabaseSync(url.replace('sqlite:', ''), { readOnly: true })
    const row = db.prepare('SELECT count(*) AS count FROM plants WHERE owner = ?').get(caller)
    db.close()
    return Number(row?.['count'])
  }
  const [row] = await query(url, 'SELECT count(*) FROM plants WHERE owner = $1', [caller])
  return Number(row?.['count'])
}

async function query(url: string, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<Record<string, unknown>>(text, values)
  await client.end()
  return rows
}
