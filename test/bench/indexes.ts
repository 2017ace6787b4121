// Indexes and changes of the store: `node test/bench/indexes.ts [ITEMS]`. Each figure is a ratio to the same work without them,
// in turn in one process, because a busy machine then slows both.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { change, type Collection, readConfig, write } from '@plant-store/engine'
import { parseJson, type StoredIndex, type StoreOptions } from '@plant-store/engine/for-store'
import { openDatabase } from '../../packages/store/src/open.ts'
import { openDatabases } from '../support/postgres/server.ts'
import { cursorOf } from '../support/stores/read-page.ts'
import { range } from '../support/stores/store-engines.ts'

const ROUNDS = 7
const ROUND_MS = 300
const CALLERS = [1, 32, 256]
/** In items. */
const FILL_AT_ONCE = 500
/** So few that each page is full. */
const AUTHORS = 5
const OWNER = 'ann'
const [words = '1000,100000'] = process.argv.slice(2)
const SIZES = words.split(',').map(Number)

interface Book {
  readonly title: string
  readonly author: string
  readonly year: number
}
type Books = Collection<Book, string, { author: ['author', 'year'] }>
type Call = (at: number) => Promise<unknown>

const AUTHOR: StoredIndex = {
  name: 'author',
  isUnique: false,
  properties: [
    { path: ['author'], type: 'string' },
    { path: ['year'], type: 'number' },
  ],
}
const COLLECTIONS = {
  books: { key: 'text', readIndexes: async () => [AUTHOR] },
  indexed: { key: 'text', readIndexes: async () => [AUTHOR] },
  plain: { key: 'text' },
} as const

const keyOf = (at: number) => String(at).padStart(9, '0')
const bookOf = (at: number): Book => ({
  title: `The Left Hand of Darkness, volume ${at}`,
  author: `Author ${at % AUTHORS}`,
  year: (at * 7919) % 100_000,
})

/** Calls a second, of so many callers. */
async function rateOf(callers: number, call: Call): Promise<number> {
  const begin = performance.now()
  let calls = 0
  const runOne = async () => {
    while (performance.now() < begin + ROUND_MS) await call((calls += 1))
  }
  await Promise.all(range(callers).map(runOne))
  return (calls * 1000) / (performance.now() - begin)
}

const middle = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0

/** The rate of each call in that of the first one: the median of all rounds. */
async function compare(name: string, callers: number, calls: Readonly<Record<string, Call>>) {
  const rates = new Map(Object.keys(calls).map((kind) => [kind, [] as number[]]))
  for (const _ of range(ROUNDS))
    for (const [kind, call] of Object.entries(calls))
      rates.get(kind)?.push(await rateOf(callers, call))
  const [first = []] = rates.values()
  for (const [kind, own] of rates) {
    const ratio = middle(own.map((rate, round) => rate / (first[round] ?? rate)))
    console.log(
      `${name}, ${callers} callers, ${kind}: ${Math.round(middle(own))} a second (${ratio.toFixed(2)})`,
    )
  }
}

async function measure(name: string, database: StoreOptions['database']): Promise<void> {
  const settings = readConfig('', { DATABASE_TIMEOUT: '60' })
  const store = await openDatabase({
    database,
    collections: COLLECTIONS,
    isExclusive: true,
    settings,
  })
  const parse = (text: string) => parseJson(Buffer.from(text)) as Book // as it was written
  const collectionOf = (name: string): Books => store.collection(name, { parse })
  await measurePages(name, collectionOf('books'))
  await measureWrites(name, new Writer(collectionOf('plain')), new Writer(collectionOf('indexed')))
  await store.close()
}

async function measurePages(name: string, books: Books): Promise<void> {
  let filled = 0
  for (const size of SIZES) {
    while (filled < size) {
      const more = Math.min(FILL_AT_ONCE, size - filled)
      const places = range(more).map((at) => filled + at)
      await Promise.all(places.map((at) => books.create(OWNER, keyOf(at), bookOf(at))))
      filled += more
    }
    const placeOf = (at: number) => (at * 104_729) % size
    const page = { limit: 20 }
    const ofAuthor = (at: number) =>
      ({ ...page, index: 'author', equals: [`Author ${at % AUTHORS}`] }) as const
    for (const callers of CALLERS)
      await compare(`${name}, page of 20 among ${size}`, callers, {
        'by key': (at) => books.list(OWNER, { ...page, cursor: cursorOf(keyOf(placeOf(at))) }),
        'by an index': (at) => books.list(OWNER, { ...ofAuthor(at), from: placeOf(at) % 90_000 }),
        'by an index, descending': (at) =>
          books.list(OWNER, {
            ...ofAuthor(at),
            to: 10_000 + (placeOf(at) % 90_000),
            descending: true,
          }),
      })
  }
}

/** A key among all others, as callers choose it. */
const newKey = (at: number) => `${keyOf((at * 7919) % 1_000_003)} ${at}`

/** Writes books under new keys. */
class Writer {
  static #last = 0
  readonly #books: Books

  constructor(books: Books) {
    this.#books = books
  }

  readonly create = (): Promise<unknown> => {
    const at = (Writer.#last += 1)
    return this.#books.create(OWNER, newKey(at), bookOf(at))
  }

  readonly createThree = (): Promise<unknown> =>
    Promise.all([this.create(), this.create(), this.create()])

  readonly changeThree = (): Promise<unknown> => {
    const at = (Writer.#last += 3)
    const itemAt = (place: number) => this.#books.at(newKey(place))
    const items = { first: itemAt(at), second: itemAt(at - 1), third: itemAt(at - 2) }
    const written = { first: bookOf(at), second: bookOf(at), third: bookOf(at) }
    return change(OWNER, items, () => write(written))
  }
}

async function measureWrites(name: string, plain: Writer, indexed: Writer): Promise<void> {
  for (const callers of CALLERS) {
    await compare(`${name}, creates`, callers, {
      'without an index': plain.create,
      'with an index': indexed.create,
    })
    await compare(`${name}, three items`, callers, {
      'three creates': plain.createThree,
      'a change of three': plain.changeThree,
    })
  }
}

const folder = mkdtempSync(join(tmpdir(), 'bench-'))
const databases = await openDatabases(t)
t.teardown(() => rmSync(folder, { recursive: true }))
t.setTimeout(0)
await measure('SQLite', { file: join(folder, 'books.db') })
await measure('PostgreSQL', { url: await databases.createDatabase() })
