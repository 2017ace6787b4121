// The indexes of both stores: each order of random items is that of a plain model, and a unique
// index refuses what breaks it, and nothing else.
import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { NotUnique, readConfig } from '@plant-store/engine'
import {
  exactJson,
  type IndexType,
  type IndexValue,
  type StoredIndex,
  type StoreOptions,
} from '@plant-store/engine/for-store'
import type { Database, Found, Order, Position, Table } from '../src/core/database.ts'
import { tableOf } from '../src/core/database.ts'
import { openDatabase } from '../src/open.ts'
import { brought, openDatabases } from '../../../test/support/postgres/server.ts'
import { range } from '../../../test/support/stores/store-engines.ts'

const settings = readConfig('', { DATABASE_TIMEOUT: '20' }) // a busy machine takes longer

const index = (name: string, ...properties: [string, IndexType][]): StoredIndex => ({
  name,
  isUnique: false,
  properties: properties.map(([path, type]) => ({ path: path.split('.'), type })),
})
const EMAIL: StoredIndex = { ...index('email', ['email', 'string']), isUnique: true }
const SEAT: StoredIndex = { ...index('seat', ['row', 'int64'], ['seat', 'int64']), isUnique: true }
const ORDERS = [
  index('author', ['author', 'string'], ['year', 'int64']),
  index('odd', [`it's.x"y`, 'number']),
  index('flag', ['isNew', 'boolean'], ['price', 'number'], ['author', 'string']),
]
const COLLECTIONS = {
  books: { key: 'text', readIndexes: async () => [...ORDERS, EMAIL] },
  seats: { key: 'int64', readIndexes: async () => [SEAT] },
} as const

const { HISTORIES, SEED } = process.env
const databases = await openDatabases(t)
const ENGINES: Record<string, (t: Test) => Promise<StoreOptions['database']>> = {
  ...(brought() === undefined && { sqlite: async (t) => ({ file: `${t.testdir()}/books.db` }) }),
  postgres: async () => ({ url: await databases.createDatabase() }),
}

for (const [name, makeDatabase] of Object.entries(ENGINES)) {
  const open = async (t: Test) => {
    const database = await makeDatabase(t)
    const store = await openDatabase({
      database,
      collections: COLLECTIONS,
      isExclusive: true,
      settings,
    })
    t.teardown(() => store.close())
    return store
  }
  t.test(`the orders of a model on ${name}`, (t) => testOrders(t, open))
  t.test(`unique indexes on ${name}`, (t) => testUnique(t, open))
}

type Open = (t: Test) => Promise<Database>

/** A row of the model: an item, and its values in an index. */
interface Row extends Found {
  readonly values: readonly IndexValue[]
}

const author = fc.oneof(
  fc.constantFrom('', 'a', 'A', 'b', 'ä', '😀', '\uffff', 'z\u0001', '\\u0000', `"'`),
  fc.string({ unit: 'binary', maxLength: 3 }).map((text) => text.replaceAll('\0', '')),
)
const int64 = fc.constantFrom(0n, 1n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, 1967n)
const number = fc.oneof(
  fc.constantFrom(0, 0.1, -1.5, 1e308, -1e308, 5e-324, 1 / 3, 7),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
)
/** A value, none, null, or one of another type: then the item is not in the index. */
const or = (value: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 8, arbitrary: value }, fc.constantFrom(undefined, null, [], { a: 1 }))
const item = fc.record({
  note: fc.constantFrom('', 'a NUL: \0', '\\u0000', '\\\\\0\0"'),
  author: or(author),
  year: or(int64),
  [`it's`]: or(fc.record({ 'x"y': or(number) })),
  isNew: or(fc.boolean()),
  price: or(number),
})
/** An order, whose values are those of two items, and how it is read. */
const request = fc.record({
  index: fc.constantFrom(undefined, ...ORDERS),
  equals: fc.nat(3),
  bounds: fc.constantFrom('', 'from', 'to', 'from to'),
  isDescending: fc.boolean(),
  left: fc.nat(),
  right: fc.nat(),
  most: fc.constantFrom(1, 7, 1000),
  length: fc.constantFrom(200, 1_000_000),
})
type Request = typeof request extends fc.Arbitrary<infer Value> ? Value : never

const TYPES: Readonly<Record<IndexType, string>> = {
  string: 'string',
  int64: 'bigint',
  number: 'number',
  boolean: 'boolean',
}

function valueAt(item: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined,
    item,
  )
}

/** The rows of an index, in its order. */
function rowsOf(items: ReadonlyMap<string, unknown>, index: StoredIndex | undefined): Row[] {
  const properties = index?.properties ?? []
  const rows = [...items].flatMap(([key, item]) => {
    const values = properties.map(({ path }) => valueAt(item, path))
    const isIn = properties.every(({ type }, at) => typeof values[at] === TYPES[type])
    return isIn ? [{ key, text: exactJson(item), values: values as IndexValue[] }] : []
  })
  return rows.sort((left, right) => compareRows(left, right))
}

function compareRows(left: Row, right: Row): number {
  const pairs = left.values.map((value, at) => [value, right.values[at] ?? value] as const)
  const differences = pairs.map((pair) => compare(...pair))
  return differences.find((difference) => difference !== 0) ?? compare(left.key, right.key)
}

function compare(left: IndexValue, right: IndexValue): number {
  if (typeof left === 'string' && typeof right === 'string')
    return Buffer.compare(Buffer.from(left), Buffer.from(right))
  return Number(left > right) - Number(left < right)
}

/** The order of a request. @param rows of its index */
function orderOf({ index, isDescending, bounds, ...at }: Request, rows: readonly Row[]): Order {
  const count = Math.min(at.equals, index?.properties.length ?? 0)
  const [left = [], right = []] = [at.left, at.right].map((at) => rows[at % rows.length]?.values)
  const order = { index, equals: left.slice(0, count), isDescending }
  const from = bounds.includes('from') ? left[count] : undefined
  const to = bounds.includes('to') ? right[count] : undefined
  return { ...order, from, to }
}

function isInOrder({ equals, from, to }: Order, { values }: Row): boolean {
  const next = values[equals.length]
  if (equals.some((value, at) => compare(values[at] ?? value, value) !== 0)) return false
  if (next === undefined) return true
  return (
    (from === undefined || compare(next, from) >= 0) && (to === undefined || compare(next, to) < 0)
  )
}

/** Reads an order to its end, in chunks of both forms. */
async function readAll(table: Table, owner: string, order: Order, { most, length }: Request) {
  const texts: string[] = []
  let after: Position | undefined
  for (;;) {
    const chunk = { owner, order, after, most, length }
    const deadline = performance.now() + 20_000
    const rows = await table.readItems(chunk, deadline)
    const list = await table.read(chunk, deadline)
    texts.push(...rows.items.map(({ text }) => text))
    const joined = rows.items.map(({ text }) => text).join()
    assert.deepEqual(
      [list.text, list.count, list.hasMore, list.last],
      [joined, rows.items.length, rows.hasMore, rows.last],
    )
    if (!rows.hasMore) return texts
    after = rows.last
  }
}

async function testOrders(t: Test, open: Open): Promise<void> {
  const store = await open(t)
  const books = tableOf(store.tables, 'books')
  let owners = 0
  const check = async (items: readonly unknown[], requests: readonly Request[]) => {
    const owner = `owner ${(owners += 1)}`
    const byKey = new Map(items.map((item, at) => [`${'aäZ'[at % 3]}${at}`, item]))
    const creates = [...byKey].flatMap(([key, item]) =>
      [owner, `${owner} `].map((owner) => books.create(owner, key, exactJson(item))),
    )
    await Promise.all(creates)
    for (const request of requests) await checkOrder(books, owner, byKey, request)
  }
  const property = fc.asyncProperty(
    fc.array(item, { minLength: 1, maxLength: 40 }),
    fc.array(request, { minLength: 6, maxLength: 6 }),
    check,
  )
  const seed = Number(SEED ?? Date.now() % 2 ** 31)
  t.comment(`SEED=${seed}`)
  await fc.assert(property, { seed, numRuns: Number(HISTORIES ?? 15), endOnFailure: true })
}

/** Compares an order with that of the model: its rows, their number, and a part of it. */
async function checkOrder(
  table: Table,
  owner: string,
  items: ReadonlyMap<string, unknown>,
  request: Request,
): Promise<void> {
  const ofIndex = rowsOf(items, request.index)
  const order = orderOf(request, ofIndex)
  const ordered = order.isDescending ? ofIndex.toReversed() : ofIndex
  const rows = ordered.filter((row) => isInOrder(order, row))
  const texts = rows.map(({ text }) => text)
  assert.deepEqual(await readAll(table, owner, order, request), texts)

  const deadline = performance.now() + 20_000
  const most = { owner, order, after: undefined, count: 5 }
  assert.equal(await table.count(most, deadline), Math.min(rows.length, 5))
  const after = await table.skip({ ...most, count: 2 }, deadline)
  const position = rows[1] && { values: rows[1].values, key: rows[1].key }
  assert.deepEqual(after, position)
  const last = rows.at(-2)
  if (after === undefined || last === undefined) return
  const end = { values: last.values, key: last.key }
  const part = await table.readItems(
    { owner, order, after, end, most: 1000, length: 1e6 },
    deadline,
  )
  assert.deepEqual(
    part.items.map(({ text }) => text),
    texts.slice(2, -1),
  )
  assert.equal(part.hasMore, false)
}

const book = (email: string | undefined, more: object = {}) => exactJson({ email, ...more })

/** The index that has refused a write; else its value. */
function outcome(result: PromiseSettledResult<unknown>): unknown {
  if (result.status === 'fulfilled') return result.value
  const { reason } = result
  return reason instanceof NotUnique ? [reason.collection, reason.index] : reason
}

const REFUSED = ['books', 'email']

async function testUnique(t: Test, open: Open): Promise<void> {
  const store = await open(t)
  const books = tableOf(store.tables, 'books')
  const at = (key: string) => ({ table: 'books', key })
  /** Writes items by their keys in one change. */
  const put = (owner: string, items: Readonly<Record<string, string | null>>) =>
    store.change(owner, Object.keys(items).map(at), () => Object.values(items))
  const emails = async (owner: string, ...keys: string[]) => {
    const texts = await Promise.all(keys.map((key) => books.find(owner, key)))
    return texts.map((text) => text && (JSON.parse(text) as { email?: unknown }).email)
  }

  t.test('a write that breaks an index is refused, and no other one of its group', async (t) => {
    const writes = range(12).map((at) => books.create('group', `${at}`, book(`${at % 10}`)))
    const results = (await Promise.allSettled(writes)).map(outcome)
    const refused = results.filter((result) => typeof result !== 'string')
    t.strictSame(refused, [REFUSED, REFUSED])
    t.equal(await books.create('group 2', '0', book('0')), book('0'), 'of another owner')
    const none = [book(undefined), exactJson({ email: null }), exactJson({ email: undefined })]
    for (const [at, text] of [...none, ...none].entries())
      t.equal(await books.create('group', `none ${at}`, text), text)
  })

  t.test('a create is repeated, and an update keeps its values or changes them', async (t) => {
    const create = () => books.create('joe', 'a', book('ann', { note: 1 }))
    await create()
    await books.create('joe', 'b', book('ben'))
    t.equal(await create(), book('ann', { note: 1 }))
    t.equal(await books.create('joe', 'a', book('ben')), book('ann', { note: 1 }))
    t.equal(
      await books.update('joe', 'a', () => book('ann', { note: 2 })),
      book('ann', { note: 2 }),
    )
    const [taken] = await Promise.allSettled([books.update('joe', 'a', () => book('ben'))])
    t.strictSame(outcome(taken), REFUSED)
    t.strictSame(await books.findBy('joe', EMAIL, ['ann']), {
      key: 'a',
      text: book('ann', { note: 2 }),
    })
    t.equal(await books.update('joe', 'a', () => book('cid')), book('cid'))
    t.equal(await books.findBy('joe', EMAIL, ['ann']), undefined)
    t.ok(await books.delete('joe', 'b'))
    t.equal(await books.create('joe', 'c', book('ben')), book('ben'), 'a deleted value is free')
  })

  t.test('an index of two integers is exact', async (t) => {
    const seats = tableOf(store.tables, 'seats')
    const seat = (row: bigint, seat: bigint) => exactJson({ row, seat })
    const most = 2n ** 63n - 1n
    await seats.create('joe', 1n, seat(most, 1n))
    t.equal(await seats.create('joe', 2n, seat(most - 1n, 1n)), seat(most - 1n, 1n))
    await t.rejects(seats.create('joe', 3n, seat(most, 1n)), new NotUnique('seats', 'seat'))
    t.match(await seats.findBy('joe', SEAT, [most - 1n, 1n]), { key: 2n })
  })

  t.test('what a change removes or changes is free for it', async (t) => {
    await put('ann', { a: book('x'), b: book('y'), c: book('z') })
    await put('ann', { a: book('y'), b: book('x') })
    t.strictSame(await emails('ann', 'a', 'b', 'c'), ['y', 'x', 'z'], 'a swap')
    await put('ann', { d: book('z'), c: null })
    await put('ann', { a: book('x'), b: book('z'), d: book('y'), e: book('w') })
    t.strictSame(await emails('ann', 'a', 'b', 'c', 'd', 'e'), ['x', 'z', undefined, 'y', 'w'])
    await put('ann', { g: book('v'), f: book(undefined) })
    await put('ann', { g: null, f: book('v') })
    t.strictSame(await emails('ann', 'f'), ['v'], 'an item without a value takes one')
    await put('ann', { f: null })
    const [refused] = await Promise.allSettled([put('ann', { a: null, f: book('w') })])
    t.strictSame(outcome(refused), REFUSED)
    t.strictSame(await emails('ann', 'a', 'f'), ['x', undefined], 'nothing of it is written')
  })

  t.test('changes that arrive together are refused one by one', async (t) => {
    const changes = range(12).map((at) =>
      put('cid', { [`${at}`]: book(`${at % 10}`), [`more ${at}`]: book(undefined) }),
    )
    const results = (await Promise.allSettled(changes)).map(outcome)
    const done = results.filter((result) => result === undefined)
    t.equal(done.length, 10)
    t.strictSame(
      new Set(results.map(exactJson)),
      new Set([exactJson(undefined), exactJson(REFUSED)]),
    )
    const more = await Promise.all(range(12).map((at) => books.find('cid', `more ${at}`)))
    t.strictSame(
      more.map(Boolean),
      results.map((result) => result === undefined),
    )
  })

  t.test('a change takes no value that another one of its group frees after it', async (t) => {
    for (const round of range(10)) {
      const owner = `round ${round}`
      await put(owner, { old: book('x') })
      let seen: string | undefined
      const take = store.change(owner, [at('old'), at('new')], ([old]) => {
        seen = old
        return [undefined, book('x')]
      })
      const results = await Promise.allSettled([take, put(owner, { old: null })])
      const expected = seen === undefined ? undefined : REFUSED
      t.strictSame(results.map(outcome), [expected, undefined])
    }
  })
}
