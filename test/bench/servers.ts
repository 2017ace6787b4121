import { randomUUID } from 'node:crypto'
import { cpSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { readConfig } from '../../service/config.ts'
import type { Server as Postgres } from '../support/postgres.ts'
import { batchesOf, type Caller, plantOf, type Sizes, type Tokens } from './data.ts'
import { openStore } from '../../service/store/open.ts'
import { issueToken } from '../support/tokens.ts'

/** A server that can be started: its program, and its database with the plants to begin with. */
export interface Server {
  readonly name: string
  /** The file that Node runs. */
  readonly program: string
  readonly environment: Readonly<Record<string, string>>
  readonly tokens: Tokens
  /** How many plants of a caller its database has; absent if it has no database. */
  readonly count?: (caller: Caller) => Promise<number>
}

/** All servers that are compared, bare Fastify first, with the plants to begin with. @param folder for their files */
export async function prepareServers(folder: string, postgres: Postgres, sizes: Sizes): Promise<Server[]> {
  const [file, copy] = [`${folder}/service.db`, `${folder}/silent.db`]
  const sqlite = await serviceOn('SQLite', `sqlite:${file}`, sizes)
  cpSync(file, copy)
  return [
    bareFastify(sizes),
    sqlite,
    withoutLog(sqlite, `sqlite:${copy}`),
    await straightforwardOn('SQLite', `sqlite:${folder}/straightforward.db`, sizes),
    await serviceOn('PostgreSQL', await postgres.createDatabase(), sizes),
    await straightforwardOn('PostgreSQL', await postgres.createDatabase(), sizes),
  ]
}

export const BARE = 'bare Fastify'

export function bareFastify({ small }: Sizes): Server {
  return {
    name: BARE,
    program: 'test/bench/bare.ts',
    environment: { NODE_ENV: 'production', SMALL: String(small) },
    tokens: randomTokens(),
  }
}

/** This service, as in production. Its empty database gets the plants to begin with. */
export async function serviceOn(name: string, url: string, sizes: Sizes): Promise<Server> {
  // A power cut would cost the bench alone: it need not wait for the disk here.
  const fast = url.startsWith('postgres:') ? `${url}?options=-c%20synchronous_commit=off` : url
  const store = await openStore(readConfig({ DATABASE_URL: fast }).DATABASE_URL)
  for (const { caller, ids } of batchesOf(sizes, 1000)) {
    await Promise.all(ids.map((id) => store.create(caller, BigInt(id), plantOf(id))))
  }
  const tokens = {
    small: await issueToken(store, 'small'),
    large: await issueToken(store, 'large'),
    creator: await issueToken(store, 'creator'),
    deleter: await issueToken(store, 'deleter'),
  }
  await store.close()
  return {
    name: `this service, ${name}`,
    program: 'service/main.ts',
    environment: { NODE_ENV: 'production', ADMIN_PORT: '0', DRAIN_DELAY: '0', DATABASE_URL: url },
    tokens,
    count: (caller) => countIn(url, caller),
  }
}

/** The same without its log, on a copy of its database. */
function withoutLog({ name, environment, ...server }: Server, url: string): Server {
  return {
    ...server,
    name: `${name}, no log`,
    environment: { ...environment, LOG_LEVEL: 'silent', DATABASE_URL: url },
    count: (caller) => countIn(url, caller),
  }
}

/** The straightforward version of the service. Its empty database gets the plants to begin with. */
export async function straightforwardOn(name: string, url: string, sizes: Sizes): Promise<Server> {
  const { fill } = await (url.startsWith('postgres:')
    ? import('./straightforward.postgres.ts')
    : import('./straightforward.sqlite.ts'))
  await fill(url, sizes)
  const tokens = randomTokens()
  return {
    name: `straightforward, ${name}`,
    program: 'test/bench/straightforward.ts',
    environment: { NODE_ENV: 'production', DATABASE_URL: url, TOKENS: JSON.stringify(tokens) },
    tokens,
    count: (caller) => countIn(url, caller),
  }
}

function randomTokens(): Tokens {
  return { small: randomUUID(), large: randomUUID(), creator: randomUUID(), deleter: randomUUID() }
}

/** How many plants of a caller a database has, whichever server keeps them there. */
async function countIn(url: string, caller: Caller): Promise<number> {
  if (url.startsWith('sqlite:')) {
    const db = new DatabaseSync(url.replace('sqlite:', ''), { readOnly: true })
    const row = db.prepare('SELECT count(*) AS count FROM plants WHERE owner = ?').get(caller)
    db.close()
    return Number(row?.['count'])
  }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ count: string }>('SELECT count(*) FROM plants WHERE owner = $1', [caller])
  await client.end()
  return Number(rows[0]?.count)
}
