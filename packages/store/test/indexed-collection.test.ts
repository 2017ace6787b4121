// Collections with indexes, on each engine: pages both ways, cursors of one order only, counts,
// entries, and the values and items that are refused. indexes.test.ts has the orders of a model.
import t, { type Test } from 'tap'
import { change, type Collection, NotUnique, readConfig, removed, write } from '@plant-store/engine'
import { parseJson, type StoredIndex } from '@plant-store/engine/for-store'
import { openDatabase } from '../src/open.ts'
import { brought, openDatabases } from '../../../test/support/postgres/server.ts'
import { range } from '../../../test/support/stores/store-engines.ts'
import { parsed, textOf } from '../../../test/support/stores/read-page.ts'

interface Book {
  readonly author?: string | null
  readonly year?: bigint
  readonly isbn?: string
  readonly note?: string
}
type Books = Collection<
  Book,
  string,
  { author: ['author', 'year']; isbn: { on: ['isbn']; unique: true } }
>
const INDEXES: readonly StoredIndex[] = [
  {
    name: 'author',
    isUnique: false,
    properties: [
      { path: ['author'], type: 'string' },
      { path: ['year'], type: 'int64' },
    ],
  },
  { name: 'isbn', isUnique: true, properties: [{ path: ['isbn'], type: 'string' }] },
]
const REFUSED = { name: 'HttpError', statusCode: 400 }
const settings = readConfig('', { DATABASE_TIMEOUT: '20' }) // a busy machine takes longer
const databases = await openDatabases(t)

if (brought() === undefined)
  t.test('a collection with indexes on sqlite', async (t) =>
    suite(t, await open(t, { file: `${t.testdir()}/books.db` })),
  )
t.test('a collection with indexes on postgres', async (t) =>
  suite(t, await open(t, { url: await databases.createDatabase() })),
)

async function open(t: Test, database: Parameters<typeof openDatabase>[0]['database']) {
  const collections = { books: { key: 'text', readIndexes: async () => INDEXES } } as const
  const store = await openDatabase({ database, collections, isExclusive: true, settings })
  t.teardown(() => store.close())
  const parse = (text: string) => {
    const { year, ...book } = parseJson(Buffer.from(text)) as Omit<Book, 'year'> & { year?: number }
    return year === undefined ? book : { ...book, year: BigInt(year) }
  }
  const books: Books = store.collection('books', { parse })
  return books
}

async function suite(t: Test, books: Books): Promise<void> {
  const keyOf = (at: number) => `b${String(at).padStart(3, '0')}`
  const authorOf = (at: number) => ['Le Guin', 'Lem', 'Ä'][at % 3] ?? ''
  const bookOf = (at: number): Book => ({
    author: authorOf(at),
    year: BigInt(at % 5),
    note: keyOf(at),
  })
  await Promise.all(range(60).map((at) => books.create('ann', keyOf(at), bookOf(at))))
  await books.create('ann', 'without year', { author: 'Lem' })
  await books.create('ann', 'without author', { author: null, year: 1n })
  await books.create('ben', 'b', { author: 'Lem', year: 1n })
  type Request = NonNullable<Parameters<Books['list']>[1]>

  /** The keys on all pages. */
  const pagesOf = async (request: Request, limit: number) => {
    const keys: string[] = []
    let cursor: string | undefined
    do {
      const page = await books.list('ann', { ...request, limit, cursor })
      const items = parsed(textOf(page))
      keys.push(...items.map(({ note = '' }) => note))
      cursor = page.next
    } while (cursor !== undefined)
    return keys
  }
  const ofLem = range(60).filter((at) => authorOf(at) === 'Lem')
  const byYear = ofLem.sort((left, right) => (left % 5) - (right % 5) || left - right).map(keyOf)

  t.test('pages have each item once, forwards and backwards', async (t) => {
    for (const limit of [1, 7, 100]) {
      const request: Request = { index: 'author', equals: ['Lem'] }
      t.strictSame(await pagesOf(request, limit), byYear)
      t.strictSame(await pagesOf({ ...request, descending: true }, limit), byYear.toReversed())
    }
    const bounded = await pagesOf({ index: 'author', equals: ['Lem'], from: 1n, to: 3n }, 3)
    t.strictSame(
      bounded,
      byYear.filter((key) => [1, 2].includes(Number(key.slice(1)) % 5)),
    )
    t.equal((await pagesOf({ index: 'author' }, 50)).length, 60, 'the others are in no index')
    t.equal((await pagesOf({ descending: true }, 10)).length, 62)
  })

  t.test('a cursor belongs to its order', async (t) => {
    const cursorOf = async (request: Request) =>
      (await books.list('ann', { ...request, limit: 1 })).next
    const requests: readonly Request[] = [
      {},
      { descending: true },
      { index: 'author' },
      { index: 'author', descending: true },
      { index: 'author', equals: ['Lem'] },
      { index: 'author', equals: ['Le Guin'] },
      { index: 'author', equals: ['Lem'], from: 0n },
      { index: 'author', equals: ['Lem'], to: 9n },
    ]
    const cursors = await Promise.all(requests.map(cursorOf))
    t.equal(new Set(cursors).size, requests.length)
    for (const [at, request] of requests.entries())
      for (const [of, cursor = ''] of cursors.entries()) {
        const list = books.list('ann', { ...request, cursor })
        if (at === of) await t.resolves(list)
        else await t.rejects(list, REFUSED)
      }
    for (const cursor of ['', 'x', '_w', '____________', `${cursors[2]}A`])
      await t.rejects(books.list('ann', { index: 'author', cursor }), REFUSED, cursor)
  })

  t.test('counts stop, and entries are values with their keys', async (t) => {
    const lem = { index: 'author', equals: ['Lem'] } as const
    t.equal(await books.count('ann', { ...lem, most: 1000 }), 20)
    t.equal(await books.count('ann', { ...lem, most: 7 }), 7)
    t.equal(await books.count('ann', { ...lem, from: 3n, most: 7 }), 7)
    t.equal(await books.count('ann', { most: 100_000 }), 62)
    t.equal(await books.count('nobody', { most: 5 }), 0)
    t.equal(await books.count('a\0', { most: 5 }), 0)
    const entries = await Array.fromAsync(books.entries('ann', { ...lem, descending: true }))
    t.strictSame(
      entries.map(({ key }) => key),
      byYear.toReversed(),
    )
    t.strictSame(entries[0]?.item, bookOf(Number(byYear.at(-1)?.slice(1))))
    t.equal((await Array.fromAsync(books.entries('ann'))).length, 62)
    t.strictSame(await Array.fromAsync(books.entries('a\0')), [])
  })

  t.test('a unique index finds one item, and refuses another one', async (t) => {
    const stored = { isbn: '978', year: 1n }
    await books.create('eve', 'a', stored)
    const find = (isbn: string) => books.find('eve', { index: 'isbn', equals: [isbn] })
    t.strictSame(await find('978'), { key: 'a', item: stored })
    t.equal(await find('979'), undefined)
    const refused = (error: unknown) => error instanceof NotUnique && error.index === 'isbn'
    const taken = await Promise.allSettled([
      books.create('eve', 'b', stored),
      change('eve', { b: books.at('b'), c: books.at('c') }, () => write({ b: stored, c: {} })),
    ])
    t.ok(taken.every((result) => 'reason' in result && refused(result.reason)))
    t.equal(await books.find('eve', 'c'), undefined)
    await change('eve', { a: books.at('a'), b: books.at('b') }, () =>
      write({ a: removed, b: stored }),
    )
    t.match(await find('978'), { key: 'b' })
  })

  t.test('an item that does not fit into an index is 400, and nothing is stored', async (t) => {
    const create = (book: Book) => books.create('max', 'a', book)
    const long = 'ä'.repeat(253)
    const table: readonly (readonly [Book, string])[] = [
      [{ author: 'a\0', year: 1n }, 'There is a NUL in author'],
      [{ author: long, year: 1n }, 'At most 512 bytes fit into author and year together'],
      [{ isbn: 'x'.repeat(513) }, 'At most 512 bytes fit into isbn'],
    ]
    for (const [book, message] of table) await t.rejects(create(book), { statusCode: 400, message })
    t.equal(await books.find('max', 'a'), undefined)
    const kept = { author: long.slice(1), year: 1n, isbn: 'x'.repeat(512), note: 'a NUL: \0' }
    t.strictSame(await create(kept), kept)
    await t.rejects(
      books.update('max', 'a', () => ({ isbn: 'x\0' })),
      REFUSED,
    )
    t.strictSame(await books.find('max', 'a'), kept)
    t.strictSame(await create({ author: 'x' }), kept, 'a create is repeated')
  })

  t.test('values that no item can have are 400, and wrong types are errors', async (t) => {
    const invalid: readonly Request[] = [
      { index: 'author', equals: ['a\0'] },
      { index: 'author', from: '\ud800' },
      { index: 'author', equals: ['Lem', 2n ** 63n] },
      { index: 'author', equals: ['Lem'], to: -(2n ** 63n) - 1n },
    ]
    for (const request of invalid) {
      await t.rejects(books.list('ann', request), REFUSED)
      await t.rejects(books.count('ann', { ...request, most: 3 }), REFUSED)
      await t.rejects(Array.fromAsync(books.entries('ann', request)), REFUSED)
    }
    const list = (request: object) => books.list('ann', request)
    const table: readonly (readonly [object, string])[] = [
      [{ index: 'title' }, 'the store was opened without the index title'],
      [{ index: 'author', equals: [7n] }, 'author of the index author is a string, not a bigint'],
      [{ index: 'author', equals: ['Lem'], from: 1 }, 'year of the index author is a bigint'],
      [{ index: 'author', equals: ['Lem', 1n, 2n] }, 'the index author has 2 values'],
      [{ index: 'author', equals: ['Lem', 1n], to: 2n }, 'the index author has 2 values'],
      [{ index: 'author', equals: 'Lem' }, 'equals is a list of values'],
      [{ from: 'a' }, 'equals, from and to are of an index'],
    ]
    for (const [request, message] of table)
      await t.rejects(list(request), { name: 'Error', message })
    const find = (request: object) => books.find('ann', request as never)
    await t.rejects(find({ index: 'author', equals: ['Lem', 1n] }), { message: 'is not unique' })
    await t.rejects(find({ index: 'isbn', equals: [] }), { message: 'needs all 1 values' })
    for (const most of [-1, 0.5, NaN])
      await t.rejects(books.count('ann', { most }), { message: 'most is an integer from 0' })
  })
}
