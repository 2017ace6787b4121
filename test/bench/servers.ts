import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { readConfig } from '../../service/engine/config.ts'
import { openTestStore } from '../support/stores.ts'
import { issueToken } from '../support/tokens.ts'
import { PLANT } from './cases.ts'

/** `small` only lists; `creator` creates and deletes; `many` are callers with 20 plants each. */
export type Caller = 'small' | 'creator' | 'many'

/** A server that can be started: its program, and its database. */
export interface Server {
  readonly name: string
  /** The file that Node runs, and the folder that it runs in; the present one if absent. */
  readonly program: string
  readonly folder?: string
  readonly environment: Readonly<Record<string, string>>
  /** The access token of each caller; of many, the file that has a token in each line. */
  readonly tokens: Readonly<Record<Caller, string>>
  /** How many plants of a caller its database has; absent if it has no database. */
  readonly count?: (caller: string) => Promise<number>
}

/** The table of the straightforward version. */
const SCHEMA = `CREATE TABLE plants (
  owner TEXT NOT NULL,
  id INTEGER NOT NULL,
  name TEXT NOT NULL,
  tag TEXT,
  PRIMARY KEY (owner, id)
) WITHOUT ROWID`

export const BARE = 'bare Fastify'

/** @param small how many plants a list has without a limit @param many how many callers take turns */
export function bareFastify(folder: string, small: number, many: number): Server {
  return {
    name: BARE,
    program: 'test/bench/bare.ts',
    environment: { NODE_ENV: 'production', SMALL: String(small) },
    tokens: {
      small: 'small',
      creator: 'creator',
      many: writeTokens(
        `${folder}/bare.tokens`,
        callersOf(many).map(() => randomUUID()),
      ),
    },
  }
}

/** This service, as in production. @param root of the version to run: its own commands make its database */
export async function serviceOn(
  name: string,
  url: string,
  folder: string,
  many: number,
  root = process.cwd(),
): Promise<Server> {
  const environment = { NODE_ENV: 'production', ADMIN_PORT: '0', DRAIN_DELAY: '0', DATABASE_URL: url }
  // Older versions have no product for tests.
  const programs = ['test/support/product', 'service'].find((each) => existsSync(`${root}/${each}/main.ts`)) ?? ''
  const issue = (caller: string) => {
    const words = [`${programs}/token.ts`, 'issue', caller]
    const env = { ...process.env, DATABASE_URL: url }
    const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore']
    return execFileSync(process.execPath, words, { cwd: root, env, encoding: 'utf8', stdio }).trim()
  }
  const [small, creator] = [issue('small'), issue('creator')]
  const issued: string[] = []
  const callers = callersOf(many)
  if (many > 0) {
    const store = await openTestStore(readConfig('plants', { DATABASE_URL: url }).DATABASE_URL)
    // In parts: a store refuses a write that has waited too long.
    while (callers.length > 0) {
      const some = callers.splice(0, 1000)
      issued.push(...(await Promise.all(some.map((caller) => issueToken(store, caller)))))
      for (let id = 1n; id <= 20n; id++) await Promise.all(some.map((caller) => store.create(caller, id, PLANT)))
    }
    await store.close()
    if (url.startsWith('postgres:')) await query(url, 'VACUUM ANALYZE')
  }
  return {
    name,
    program: `${programs}/main.ts`,
    folder: root,
    environment,
    tokens: { small, creator, many: writeTokens(`${folder}/${name}.tokens`, issued) },
    count: (caller) => countIn(url, caller),
  }
}

/** The straightforward version of the service, on SQLite. */
export function straightforward(file: string, many: number): Server {
  const callers = callersOf(many)
  const tokens = new Map([...callers, 'small', 'creator'].map((caller) => [randomUUID() as string, caller]))
  writeFileSync(`${file}.json`, JSON.stringify(Object.fromEntries(tokens)))
  const [small = '', creator = ''] = [...tokens.keys()].slice(callers.length)
  const db = new DatabaseSync(file)
  db.exec(`PRAGMA journal_mode = WAL; ${SCHEMA}; BEGIN`)
  const insert = db.prepare('INSERT INTO plants VALUES (?, ?, ?, ?)')
  for (const caller of callers) for (let id = 1; id <= 20; id++) insert.run(caller, id, PLANT.name, PLANT.tag)
  db.exec('COMMIT')
  db.close()
  return {
    name: 'straightforward, SQLite',
    program: 'test/bench/straightforward.ts',
    environment: { NODE_ENV: 'production', FILE: file, TOKENS: `${file}.json` },
    tokens: { small, creator, many: writeTokens(`${file}.tokens`, [...tokens.keys()].slice(0, callers.length)) },
    count: (caller) => countIn(`sqlite:${file}`, caller),
  }
}

function callersOf(many: number): string[] {
  return Array.from({ length: many }, (_, index) => `caller ${index + 1}`)
}

/** Writes a token into each line of a file. @returns its path */
function writeTokens(file: string, tokens: readonly string[]): string {
  writeFileSync(file, tokens.map((token) => `${token}\n`).join(''))
  return file
}

/** How many plants of a caller a database has, whichever server keeps them there. */
async function countIn(url: string, caller: string): Promise<number> {
  if (!url.startsWith('sqlite:')) {
    const [row] = await query(url, 'SELECT count(*) FROM plants WHERE owner = $1', [caller])
    return Number(row?.['count'])
  }
  const db = new DatabaseSync(url.replace('sqlite:', ''), { readOnly: true })
  const row = db.prepare('SELECT count(*) AS count FROM plants WHERE owner = ?').get(caller)
  db.close()
  return Number(row?.['count'])
}

async function query(url: string, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<Record<string, unknown>>(text, values)
  await client.end()
  return rows
}
