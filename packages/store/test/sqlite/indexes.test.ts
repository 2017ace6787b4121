// Indexes in a SQLite file: made and dropped at the start, taken by each list, and the order of
// random values.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { readConfig } from '@plant-store/engine'
import {
  type Collections,
  type IndexedProperty,
  type IndexType,
  type IndexValue,
  NotUnique,
  type StoredIndex,
} from '@plant-store/engine/for-store'
import { checkDatabase, restoreBackup, saveBackup } from '../../../../test/support/inner/backup.ts'
import type { Chunk, Order, Position, Table } from '../../src/core/database.ts'
import { openDatabase } from '../../src/open.ts'
import { updateIndexes } from '../../src/sqlite/create-indexes.ts'
import { prepareSchema } from '../../src/sqlite/create-tables.ts'
import { OrderedRows } from '../../src/sqlite/ordered-rows.ts'

const OWNER = '/users/ann'
const PROGRAM = new URL('open-indexed.ts', import.meta.url).pathname

function property(name: string, type: IndexType): IndexedProperty {
  return { path: name.split('.'), type }
}

const AUTHOR: StoredIndex = {
  name: 'author',
  isUnique: false,
  properties: [property('author', 'string'), property('year', 'int64')],
}
const SHELF = { name: 'shelf', isUnique: false, properties: [property('place.shelf', 'string')] }
const ISBN = { name: 'isbn', isUnique: true, properties: [property('isbn', 'string')] }

function books(...indexes: readonly StoredIndex[]): Collections {
  return { books: { key: 'text', readIndexes: async () => indexes } }
}

/** Opens a store as the service does, or as a command beside it. */
async function open(t: Test, file: string, collections: Collections, isExclusive = true) {
  const settings = readConfig('', {})
  const store = await openDatabase({ database: { file }, collections, isExclusive, settings })
  t.teardown(() => store.close())
  const table = store.tables.get('books')
  if (table === undefined) throw new Error('no table')
  return Object.assign(store, { table })
}

/** The definitions of the indexes in a file. */
function indexesIn(file: string): string[] {
  using db = new DatabaseSync(file, { readOnly: true })
  const rows = db.prepare("SELECT sql FROM sqlite_schema WHERE type = 'index' ORDER BY sql").all()
  return rows.map(({ sql }) => String(sql))
}

/** The keys of the rows in an order, read in chunks. */
async function keysOf(table: Table, order: Partial<Order>, most = 1000): Promise<string[]> {
  const keys: string[] = []
  let after: Position | undefined
  for (;;) {
    const full = { equals: [], isDescending: false, ...order }
    const chunk: Chunk = { owner: OWNER, order: full, after, most, length: 1 << 20 }
    const { items, last, hasMore } = await table.readItems(chunk, Infinity)
    keys.push(...items.map(({ key }) => String(key)))
    if (!hasMore) return keys
    after = last
  }
}

const HEAD = 'CREATE INDEX "books.shelf" ON "books"'
const VALUE = `CASE json_type(item, '$."place"."shelf"') WHEN 'text' THEN json_extract(item, '$."place"."shelf"') END`

t.test('indexes are made at the start, and dropped when no collection names them', async (t) => {
  const file = `${t.testdir()}/books.db`
  const first = await open(t, file, books())
  await first.table.create(OWNER, 'a', '{"place":{"shelf":"S1"},"author":"Le Guin","year":1969}')
  await first.table.create(OWNER, 'b', '{"place":{"shelf":null},"author":"Le Guin","year":1974}')
  await first.close()
  t.strictSame(indexesIn(file), [])

  const second = await open(t, file, books(AUTHOR, SHELF))
  t.strictSame(await keysOf(second.table, { index: SHELF }), ['a'])
  t.strictSame(await keysOf(second.table, { index: AUTHOR, isDescending: true }), ['b', 'a'])
  await second.table.create(OWNER, 'c', '{"place":{"shelf":"S0"}}')
  t.strictSame(await keysOf(second.table, { index: SHELF }), ['c', 'a'])
  await second.close()
  t.strictSame(
    indexesIn(file)[1],
    `${HEAD} (owner, ${VALUE}, key, item) WHERE ${VALUE} IS NOT NULL`,
  )
  t.strictSame(checkDatabase(file), { books: 3 })

  const changed = { ...AUTHOR, properties: AUTHOR.properties.slice(0, 1) }
  const third = await open(t, file, books(changed))
  t.strictSame(await keysOf(third.table, { index: changed }), ['a', 'b'])
  const before = indexesIn(file)
  t.equal(before.length, 1)

  const command = await open(t, file, books(SHELF), false)
  await command.close()
  t.strictSame(indexesIn(file), before, 'a command beside the service leaves them')
  await third.close()
})

/** An item of the model: its key, and the values of its properties. */
interface Row {
  readonly key: string
  readonly values: Readonly<Record<string, IndexValue | null | undefined>>
}

const random = (count: number) => Math.floor(Math.random() * count)
const pick = <Value>(values: readonly Value[]) => values[random(values.length)]

const bits = new DataView(new ArrayBuffer(8))

/** A double of random bits, or one near to others. */
function randomNumber(): number {
  bits.setUint32(0, random(2 ** 32))
  bits.setUint32(4, random(2 ** 32))
  const any = bits.getFloat64(0)
  const numbers = [any, random(5), random(2000) / 100 - 10, 2 ** 53 + 2 * random(3), -(2 ** 63)]
  const number = pick([...numbers, 2 ** 62, 0.1 + 0.2, 0.3, 5e-324, 1e21, -1e-7]) ?? 0
  return Number.isFinite(number) && number !== 0 ? number : 0
}

function randomInt64(): bigint {
  const any = BigInt.asIntN(64, BigInt(random(2 ** 32)) * BigInt(random(2 ** 32)) * 3n)
  const edges = [2n ** 63n - 1n, 2n ** 63n - 2n, -(2n ** 63n), 2n ** 53n, 2n ** 53n + 1n, 0n, -1n]
  return pick([any, ...edges]) ?? 0n
}

const randomString = () =>
  pick(['', 'a', 'A', 'b', 'a b', 'é', 'z', '\uffff', '😀', '[1]', '{}', 'null', '1', '1.0']) ?? ''

/** Names of properties that a path must quote. */
const NAMES: Readonly<Record<IndexType, string>> = {
  string: `it's "a" \\ [0].$`,
  int64: '',
  number: '--\n*/é',
  boolean: 'b',
}
const RANDOM: Readonly<Record<IndexType, () => IndexValue>> = {
  string: randomString,
  int64: randomInt64,
  number: randomNumber,
  boolean: () => random(2) === 1,
}

const typed = (type: IndexType): IndexedProperty => ({ path: ['in', NAMES[type]], type })
const TYPES: readonly (readonly IndexType[])[] = [
  ['string'],
  ['int64'],
  ['number'],
  ['boolean', 'int64'],
  ['boolean', 'string'],
  ['number', 'string'],
  ['string', 'boolean', 'number'],
]
const OF_TYPES: readonly StoredIndex[] = TYPES.map((types) => ({
  name: types.join('_'),
  isUnique: false,
  properties: types.map(typed),
}))

function randomRow(place: number): Row {
  const values = Object.entries(RANDOM).map(([type, value]) => {
    const isThere = random(10) > 0
    return [type, isThere ? value() : pick([null, undefined])] as const
  })
  return { key: `key ${place % 7} ${place}`, values: Object.fromEntries(values) }
}

function toJson({ values }: Row): string {
  const properties = Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([type, value]) => {
      const json = typeof value === 'bigint' ? String(value) : JSON.stringify(value)
      return `${JSON.stringify(NAMES[type as IndexType])}:${json}`
    })
  // Another property may have NUL.
  return `{"in":{${properties.join(',')},"c":"\\u0000"},"b":"outside"}`
}

function compare(left: IndexValue, right: IndexValue): number {
  if (typeof left === 'string') return Buffer.compare(Buffer.from(left), Buffer.from(String(right)))
  if (left === right) return 0
  return left < right ? -1 : 1
}

/** The keys of an order, by the plain rules. */
function modelKeys(rows: readonly Row[], order: Order): string[] {
  const types = order.index?.properties.map(({ type }) => type) ?? []
  const { equals, from, to, isDescending } = order
  const entries = rows.flatMap(({ key, values }) => {
    const own = types.map((type) => values[type])
    const present = own.filter((value) => value !== null && value !== undefined)
    const next = present[equals.length]
    const isIn =
      present.length === types.length &&
      equals.every((value, place) => value === present[place]) &&
      (from === undefined || next === undefined || compare(next, from) >= 0) &&
      (to === undefined || next === undefined || compare(next, to) < 0)
    return isIn ? [[...present, key]] : []
  })
  entries.sort((left, right) => {
    const places = left.map((value, place) => compare(value, right[place] ?? ''))
    return places.find((sign) => sign !== 0) ?? 0
  })
  const keys = entries.map((entry) => String(entry.at(-1)))
  return isDescending ? keys.reverse() : keys
}

function randomOrder(): Order {
  const index = pick([...OF_TYPES, undefined])
  const types = index?.properties.map(({ type }) => type) ?? []
  const values = types.slice(0, random(types.length + 1)).map((type) => RANDOM[type]())
  const next = types[values.length]
  const bound = () => (next !== undefined && random(3) === 0 ? RANDOM[next]() : undefined)
  return { index, equals: values, from: bound(), to: bound(), isDescending: random(2) === 1 }
}

t.test(
  'random values are in the order of a plain model, by each index and both ways',
  async (t) => {
    const { table } = await open(t, ':memory:', books(...OF_TYPES))
    const rows = Array.from({ length: 200 }, (_, place) => randomRow(place))
    await Promise.all(rows.map((row) => table.create(OWNER, row.key, toJson(row))))
    await Promise.all(rows.map((row) => table.create('/users/ben', row.key, toJson(row))))
    for (let round = 0; round < 80; round++) {
      const order = randomOrder()
      const model = modelKeys(rows, order)
      const range = { owner: OWNER, order, after: undefined, count: 1 + random(50) }
      const keys = await keysOf(table, order, 1 + random(60))
      t.equal(keys.join(), model.join(), order)
      t.equal(await table.count(range, Infinity), Math.min(range.count, model.length))
      const last = await table.skip(range, Infinity)
      t.equal(last?.key, model[range.count - 1])
      if (last === undefined) continue
      const rest = { ...range, after: last, count: 1000 }
      t.equal(await table.count(rest, Infinity), model.length - range.count)
      const chunk = { ...range, most: 1000, length: 1 << 20, end: last }
      const { items, hasMore } = await table.readItems(chunk, Infinity)
      t.strictSame([items.length, hasMore], [range.count, false], 'the rows to an end')
    }
  },
)

function randomPosition({ index, equals }: Order): Position {
  const types = index?.properties.map(({ type }) => type) ?? []
  const rest = types.slice(equals.length).map((type) => RANDOM[type]())
  return { values: [...equals, ...rest], key: 'a' }
}

/** A database that keeps its statements. */
class Recorder extends DatabaseSync {
  readonly statements = new Set<string>()

  override prepare(sql: string) {
    this.statements.add(sql)
    return super.prepare(sql)
  }
}

/** A unique index has no items. */
const SEARCHED: ReadonlyMap<string | undefined, string> = new Map([
  [undefined, 'PRIMARY KEY'],
  ['books.isbn', 'INDEX'],
])

t.test('no statement of a list sorts, or reads more than its rows in an index', (t) => {
  const db = new Recorder(':memory:', { readBigInts: true })
  const indexes = [...OF_TYPES, ISBN]
  const tables = { books: { key: 'text', indexes } } as const
  prepareSchema(db, tables)
  updateIndexes(db, tables)
  const rows = new OrderedRows(db, 'books', indexes)
  db.statements.clear()
  for (let round = 0; round < 1000; round++) {
    const order = randomOrder()
    const position = randomPosition(order)
    const range = { owner: OWNER, order, after: pick([undefined, position]), count: 9 }
    rows.count(range)
    rows.skip(range)
    rows.readChunk({ ...range, most: 9, length: 9, end: pick([undefined, position]) })
  }
  rows.find(OWNER, ISBN, ['1'])
  t.ok(db.statements.size > 100)
  for (const sql of [...db.statements]) {
    const steps = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all()
    const plan = steps.map(({ detail }) => String(detail)).join('; ')
    const [, index] = /INDEXED BY "([^"]+)"/.exec(sql) ?? []
    t.match(plan, new RegExp(`SEARCH books USING ${SEARCHED.get(index) ?? 'COVERING INDEX'}`), sql)
    t.notMatch(plan, /TEMP|SCAN books/, sql)
  }
  t.end()
})

t.test('a start that is killed while it makes an index leaves a file that opens', async (t) => {
  const file = `${t.testdir()}/books.db`
  await (await open(t, file, books())).close()
  using db = new DatabaseSync(file)
  db.exec(`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000)
    INSERT INTO books SELECT '${OWNER}', n, '{"isbn":"' || hex(zeroblob(200)) || n || '"}' FROM numbers`)
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
  const log = `${file}-wal`
  while (!isInLog(log)) {
    const child = spawn(process.execPath, [PROGRAM, file, JSON.stringify([ISBN])])
    const exit = once(child, 'exit')
    while (!isInLog(log) && child.exitCode === null) await setImmediate()
    child.kill('SIGKILL')
    await exit
    // The start was over before it was killed: another one.
    if (indexesIn(file).length > 0) await (await open(t, file, books())).close()
  }
  t.strictSame(indexesIn(file), [])
  const store = await open(t, file, books(ISBN))
  const isbn = `${'0'.repeat(400)}7`
  t.match(await store.table.findBy(OWNER, ISBN, [isbn]), { key: '7' })
  await store.close()
  t.strictSame(checkDatabase(file), { books: 20_000 })
  t.equal(indexesIn(file).length, 1)
})

/** Whether a transaction has written to the log. */
function isInLog(log: string): boolean {
  return (statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 0
}

t.test('items that break a unique index end the start, and two of them are named', async (t) => {
  const file = `${t.testdir()}/books.db`
  const store = await open(t, file, books(ISBN))
  for (const [owner, key, isbn] of [
    ['/users/ann', 'a', '"1"'],
    ['/users/ben', 'b', '"1"'],
    ['/users/ben', 'c', '1'],
    ['/users/ben', 'd', 'null'],
  ] as const)
    await store.table.create(owner, key, `{"isbn":${isbn},"title":"The Dispossessed"}`)
  await store.close()
  const title = { name: 'title', isUnique: true, properties: [property('title', 'string')] }
  await t.rejects(open(t, file, books(ISBN, title)), {
    name: 'StartupError',
    message: `DATABASE_URL sqlite:${file}: the index title of books is unique, but b and d of "/users/ben" have the same values`,
  })
  t.match(indexesIn(file), [/^CREATE UNIQUE INDEX "books.isbn"/], 'nothing is changed')
})

t.test('a write that breaks a unique index is refused, and none of the others', async (t) => {
  const store = await open(t, `${t.testdir()}/books.db`, books(ISBN, AUTHOR))
  const { table } = store
  const book = (isbn: string) => `{"isbn":"${isbn}"}`
  await table.create(OWNER, 'a', book('1'))
  const broken = { name: 'NotUnique', collection: 'books', index: 'isbn' }
  await t.rejects(table.create(OWNER, 'b', book('1')), broken, 'alone')
  const results = await Promise.allSettled([
    table.create(OWNER, 'b', book('2')),
    table.create(OWNER, 'c', book('2')),
    table.update(OWNER, 'a', () => book('2')),
    table.create(OWNER, 'd', book('4')),
    table.create('/users/ben', 'b', book('1')),
  ])
  t.strictSame(
    results.map((result) => result.status === 'rejected' && result.reason instanceof NotUnique),
    [false, true, true, false, false],
  )
  t.equal(await table.create(OWNER, 'a', book('1')), book('1'), 'the same again is no fault')
  t.equal(await table.create(OWNER, 'a', book('2')), book('1'), 'nor another one under its key')

  const places = ['a', 'b', 'd', 'e'].map((key) => ({ table: 'books', key }))
  const change = (texts: readonly (string | null | undefined)[]) =>
    store.change(OWNER, places, () => texts)
  await change([book('2'), book('1'), null, book('4')]) // a swap, and a value that a removal frees
  t.equal(await table.find(OWNER, 'a'), book('2'))
  await t.rejects(change([null, book('5'), book('6'), book('5')]), broken)
  t.match(await table.findBy(OWNER, ISBN, ['2']), { key: 'a' })
  t.match(await table.findBy(OWNER, ISBN, ['4']), { key: 'e' })
  t.equal(await table.findBy(OWNER, ISBN, ['5']), undefined)
})

t.test('a page that is kept belongs to its order, and is gone after a write', async (t) => {
  const { table } = await open(t, ':memory:', books(SHELF))
  const create = (key: string, shelf: string) =>
    table.create(OWNER, key, `{"place":{"shelf":"${shelf}"},"key":"${key}"}`)
  await create('a', 'S2')
  await create('b', 'S1')
  const shelf = { index: SHELF, equals: [], isDescending: false }
  const orders: Order[] = [
    { equals: [], isDescending: false },
    { equals: [], isDescending: true },
    shelf,
    { ...shelf, equals: ['S1'] },
    { ...shelf, from: 'S2' },
    { ...shelf, to: 'S2' },
  ]
  const chunk = { owner: OWNER, after: undefined, most: 9, length: 9000 }
  const isRight = async (order: Order) => {
    const { text } = await table.read({ ...chunk, order }, Infinity)
    const { items } = await table.readItems({ ...chunk, order }, Infinity)
    t.equal(text, items.map((item) => item.text).join())
  }
  const lists = async (expected: string) => {
    for (const before of orders)
      for (const order of orders) for (const next of [before, order, order]) await isRight(next)
    const texts = await Promise.all(orders.map((order) => keysOf(table, order)))
    t.equal(texts.map((keys) => keys.join('')).join(' '), expected)
  }
  await lists('ab ba ba b a b')
  await create('c', 'S1')
  await lists('abc cba bca bc a bc')
})

t.test('a backup without an index gets it at the next start', async (t) => {
  const folder = t.testdir()
  const [file, backup] = [`${folder}/books.db`, `${folder}/backup.db`]
  const old = await open(t, file, books())
  await old.table.create(OWNER, 'a', '{"place":{"shelf":"S1"}}')
  await old.close()
  await saveBackup(file, backup)
  const newer = await open(t, file, books(SHELF))
  await newer.table.create(OWNER, 'b', '{"place":{"shelf":"S1"}}')
  await saveBackup(file, `${folder}/newer.db`)
  await newer.close()
  await restoreBackup(backup, file, true)
  t.strictSame(indexesIn(file), [])
  const restored = await open(t, file, books(SHELF))
  t.strictSame(await keysOf(restored.table, { index: SHELF, equals: ['S1'] }), ['a'])
  await restored.close()
  await restoreBackup(`${folder}/newer.db`, file, true)
  t.equal(indexesIn(file).length, 1)
})

t.test('an item that is missing from an index is found by the check', async (t) => {
  const file = `${t.testdir()}/books.db`
  const store = await open(t, file, books(SHELF))
  await store.table.create(OWNER, 'a', '{"place":{"floor":"S1"}}')
  await store.close()
  t.strictSame(checkDatabase(file), { books: 1 })
  using db = new DatabaseSync(file)
  db.enableDefensive(false)
  db.exec(`PRAGMA writable_schema = on;
    UPDATE sqlite_schema SET sql = replace(sql, '."shelf"', '."floor"') WHERE type = 'index'`)
  db.close()
  t.throws(() => checkDatabase(file), {
    message: 'the database is damaged: row 1 missing from index books.shelf',
  })
})

t.test('a name with NUL beside an indexed property is refused: SQLite ends it there', async (t) => {
  const store = await open(t, ':memory:', books(SHELF))
  const items = store.collection<unknown, string>('books', { parse: JSON.parse })
  const refused = { name: 'HttpError', statusCode: 400 }
  for (const item of [{ 'place\0': {} }, { place: { 'shelf\0': 'S1' } }])
    await t.rejects(items.create(OWNER, 'a', item), refused)
  await items.create(OWNER, 'a', { note: 'a\0', more: { 'shelf\0': 'S1' } })
  t.strictSame(await keysOf(store.table, { index: SHELF }), [])
})
