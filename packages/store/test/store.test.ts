// Each engine keeps the promises of the Store interface, with keys and int64 properties at their
// limits. collection.test.ts has more of collections, and model.test.ts has pages after any key.
import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { idOf } from '@plant-store/engine/for-testing'
import { readConfig } from '@plant-store/engine'
import { openStore } from '../src/index.ts'
import type { Collection, Collections, Key } from '@plant-store/engine/for-store'
import { type Engine, range, startEngines } from '../../../test/support/stores/store-engines.ts'
import { namesOf, read } from '../../../test/support/stores/read-page.ts'
import { product } from '../../../test/support/product/product.ts'

const MAX = 2n ** 63n - 1n
const MIN = -(2n ** 63n)
const INTEGERS = [
  0n,
  MAX,
  MIN,
  -1n,
  2n ** 53n,
  2n ** 53n + 1n,
  MAX - 1n,
  MIN + 1n,
  -(2n ** 53n) - 1n,
  -(2n ** 53n),
]

for (const engine of await startEngines(t))
  t.test(`a store on ${engine.name}`, (t) => suite(t, engine))

async function suite(t: Test, engine: Engine): Promise<void> {
  const { store, reopen } = await engine.open(t)
  const { notes } = store

  t.test('access tokens are added, found, listed and deleted', async (t) => {
    const { tokens } = store
    const digest = (digit: number) => String(digit).repeat(64)
    const old = {
      digest: digest(1),
      caller: 'joe',
      created: new Date(1),
      expires: new Date(2),
      scopes: [],
    }
    const future = {
      digest: digest(0),
      caller: 'jöe',
      created: new Date(5e12),
      scopes: ['plants:read', 'b'],
    }
    const young = { digest: digest(2), caller: 'x', created: new Date(3), scopes: ['x'] }
    t.equal(await tokens.find(digest(0)), undefined)
    for (const token of [future, old, young]) await tokens.add(token)
    for (const token of [future, old, young])
      t.strictSame(await tokens.find(token.digest), token, 'expired or not')
    t.equal(await tokens.find(digest(9)), undefined)
    t.strictSame(await tokens.list(), [old, young, future])
    t.equal(await tokens.remove(idOf(old)), true)
    t.equal(await tokens.remove(idOf(old)), false)
    t.equal(await tokens.find(digest(1)), undefined)
    const sameId = { ...young, digest: `${idOf(young)}${'3'.repeat(48)}` }
    t.equal(await tokens.find(sameId.digest), undefined, 'the whole digest counts')
    await t.rejects(tokens.add(sameId), { message: 'there is another token with the id 2222' })
    t.strictSame(await tokens.list(), [young, future])
  })

  t.test('int64 keys are exact in their whole range, and ascend by their values', async (t) => {
    for (const key of INTEGERS) await store.create('int64', key, { name: String(key) })
    const sorted = INTEGERS.toSorted((left, two) => (left < two ? -1 : 1)).map(String)
    t.strictSame(await namesOf(store.list('int64')), sorted)
    for (const key of INTEGERS) {
      t.strictSame(await store.find('int64', key), { name: String(key) })
      t.equal(await store.delete('int64', key), true)
    }
  })

  t.test('text keys differ if a byte differs, and ascend by their bytes in UTF-8', async (t) => {
    const keys = [
      ...' |A|a|a |aa|a\u0301|b|e\u0301|\u007f|\u0080|é|ß|\u{212B}|植|\uD7FF|\u0001|%_\'"\\;--'.split(
        '|',
      ),
      ...'\uE000|\uFFFF|\u{10000}|🌵|\u{10FFFF}'.split('|'), // U+10000 is before U+E000 in UTF-16
      randomBytes(768).toString('base64'), // 1024 bytes, not compressible by an index
      `x${'y'.repeat(1023)}`,
    ]
    const sorted = keys.toSorted((left, two) => Buffer.compare(Buffer.from(left), Buffer.from(two)))
    for (const key of keys)
      t.match(await notes.create('text', key, { text: key, count: 0n }), { text: key })
    const listed = (await read(notes.list('text'))).items.map(({ text }) => text)
    t.strictSame(listed, sorted)
    for (const key of keys) t.equal((await notes.find('text', key))?.text, key)
    for (const key of keys) t.equal(await notes.delete('text', key), true)
  })

  t.test(
    'a key that can not be stored is 400 in a create, and finds nothing elsewhere',
    async (t) => {
      const refused = { name: 'HttpError', statusCode: 400 }
      const isNowhere = async <Item, K extends Key>(
        items: Collection<Item, K>,
        key: K,
        item: Item,
      ) => {
        await t.rejects(items.create('bad', key, item), refused)
        t.strictSame(
          [await items.find('bad', key), await items.delete('bad', key)],
          [undefined, false],
        )
        t.equal(await items.update('bad', key, () => item), undefined)
      }
      for (const key of [MAX + 1n, MIN - 1n, 2n ** 64n]) await isNowhere(store, key, { name: 'x' })
      for (const key of ['', '\0', 'a\0', '\uD800', 'a\uDC00b', 'x'.repeat(1025), 'é'.repeat(513)])
        await isNowhere(notes, key, { text: 'x', count: 0n })
      t.strictSame(
        [await read(store.list('bad')), await read(notes.list('bad'))],
        [{ items: [] }, { items: [] }],
      )
    },
  )

  t.test(
    'an owner that can not be stored is 400 in a create, and finds nothing elsewhere',
    async (t) => {
      const refused = { name: 'HttpError', statusCode: 400, message: /owner/ }
      const wrong = ['\0', 'a\0b', '\uD800', 'a\uDC00b', 'x'.repeat(1025), 'é'.repeat(513)]
      await store.create('\uFFFD', 1n, { name: 'of another owner' })
      const neighbour = store.find('\uFFFD', 1n)
      for (const owner of wrong) {
        await t.rejects(store.create(owner, 1n, { name: 'x' }), refused)
        await t.rejects(notes.create(owner, 'a', { text: 'x', count: 0n }), refused)
        t.equal(await store.find(owner, 1n), undefined)
        t.equal(await store.update(owner, 1n, () => ({ name: 'x' })), undefined)
        t.equal(await store.delete(owner, 1n), false)
        t.strictSame(await read(store.list(owner)), { items: [] })
        t.strictSame(await read(notes.list(owner, { limit: 1 })), { items: [] })
      }
      t.strictSame(await neighbour, { name: 'of another owner' })
      const longest = `${'é'.repeat(511)}xx`
      const longestKey = randomBytes(768).toString('base64')
      for (const owner of ['', longest]) {
        const note = { text: owner, count: 0n }
        t.strictSame(await notes.create(owner, longestKey, note), note)
        t.strictSame(await notes.find(owner, longestKey), note)
        t.equal(await notes.delete(owner, longestKey), true)
      }
    },
  )

  t.test('a limit is an integer from 0; any other is 400, also with a cursor', async (t) => {
    const refused = { name: 'HttpError', statusCode: 400, message: /limit/ }
    const cursor = Buffer.alloc(8).toString('base64url')
    for (const limit of [-1, -(2 ** 63), 0.5, 1.5, NaN, Infinity, -Infinity]) {
      await t.rejects(store.list('limits', { limit }), refused, String(limit))
      await t.rejects(notes.list('limits', { limit }), refused, String(limit))
      await t.rejects(store.list('limits', { limit, cursor }), refused, String(limit))
    }
    for (const key of [1n, 2n, 3n]) await store.create('limits', key, { name: String(key) })
    for (const page of [{ limit: 0 }, { limit: -0 }, { limit: 0, cursor }])
      t.strictSame(await read(store.list('limits', page)), { items: [] }, 'no page follows')
    await t.rejects(store.list('limits', { limit: 0, cursor: 'x' }), { message: /cursor/ })
    for (const limit of [2 ** 31, Number.MAX_SAFE_INTEGER, 2 ** 63, 2 ** 64, Number.MAX_VALUE])
      t.equal((await namesOf(store.list('limits', { limit }))).length, 3)
  })

  t.test('a cursor that no page has given is 400', async (t) => {
    const int64 = Buffer.alloc(8, 1).toString('base64url')
    const text = Buffer.from('é').toString('base64url')
    const wrong = ['', 'x', '=', '%', ' ']
    const wrongInt64s = [
      text,
      `${int64}A`,
      int64.slice(1),
      `${int64}=`,
      `${int64.slice(0, -1)}F`,
      `${int64}é`,
    ]
    const bytes = [
      Buffer.from('é').subarray(1),
      Buffer.from('\uD800', 'utf16le'),
      Buffer.from('a\0'),
    ]
    const wrongTexts = [...bytes, Buffer.alloc(1025, 'x')].map((text) => text.toString('base64url'))
    const refused = { name: 'HttpError', statusCode: 400, message: /cursor/ }
    for (const cursor of [...wrong, ...wrongInt64s])
      await t.rejects(store.list('joe', { cursor }), refused, cursor)
    for (const cursor of [...wrong, `${text}=`, `${text.slice(0, -1)}l`, ...wrongTexts])
      await t.rejects(notes.list('joe', { cursor }), refused, cursor)
    t.strictSame(await read(store.list('joe', { cursor: int64 })), { items: [] })
    t.strictSame(await read(notes.list('joe', { cursor: text })), { items: [] })
  })

  t.test('an int64 in an item is exact, and always a bigint', async (t) => {
    for (const [at, count] of INTEGERS.entries()) {
      const note = { text: 'a', count }
      t.strictSame(await notes.create('exact', `${at}`, note), note)
      t.strictSame(
        await notes.create('exact', `${at}`, { text: 'b', count: 7n }),
        note,
        'as it was stored',
      )
      t.strictSame(await notes.find('exact', `${at}`), note)
      let seen: unknown
      t.strictSame(await notes.update('exact', `${at}`, (stored) => (seen = stored)), note)
      t.strictSame(seen, note)
    }
    const listed = (await read(notes.list('exact'))).items.map(({ count }) => String(count))
    t.strictSame(listed, INTEGERS.map(String))
  })

  t.test('close finishes all writes, and they are there when the store opens again', async (t) => {
    const changed = { text: 'new', count: 2n }
    await store.notes.create('close', 'a', { text: 'old', count: 1n })
    const begun = [
      ...range(50).map((key) => store.create('close', BigInt(key), { name: String(key) })),
      store.notes.update('close', 'a', () => changed),
    ]
    await store.close()
    t.equal((await Promise.all<unknown>(begun)).length, 51)
    const again = await reopen()
    t.strictSame(await namesOf(again.list('close')), range(50).map(String))
    t.strictSame(await again.notes.find('close', 'a'), changed)
    t.equal((await again.tokens.list()).length, 2)
    await again.close()
    for (const late of [
      () => store.create('closed', 1n, { name: 'x' }),
      () => store.update('close', 1n, () => undefined),
      () => store.list('close'),
      () => store.notes.delete('close', 'a'),
    ]) {
      await t.rejects<unknown>(late, { name: 'StoreUnavailable' }, 'and a closed one is away')
    }
  })

  t.test('a collection whose keys had another type is refused', async (t) => {
    const { store, reopen } = await engine.open(t)
    await store.close()
    const collections = { plants: { schema: 'Plant', key: 'text' } } as const
    await t.rejects(reopen({ ...product, collections }), {
      name: 'StartupError',
      message: 'the collection plants has keys of another type than text',
    })
  })

  t.test('a store is empty until it has an item or a token', async (t) => {
    const { store } = await engine.open(t)
    const token = {
      digest: '0'.repeat(64),
      caller: 'joe',
      created: new Date(),
      expires: new Date(0),
      scopes: [],
    }
    for (const [write, isEmpty] of [
      [() => undefined, true],
      [() => store.create('joe', 1n, { name: 'a' }), false],
      [() => store.delete('joe', 1n), true],
      [() => store.notes.create('joe', 'a', { text: 'a', count: 1n }), false],
      [() => store.notes.delete('joe', 'a'), true],
      [() => store.tokens.add(token), false],
    ] as const) {
      await write()
      t.equal(await store.isEmpty(), isEmpty)
    }
  })
}

t.test(
  'a collection needs a name that SQL takes, and that the store does not use itself',
  async (t) => {
    const database = { file: `${t.testdir()}/names.db` }
    const open = (collections: Collections) =>
      openStore({ database, collections, isExclusive: true, settings: readConfig('', {}) })
    for (const name of [
      'tokens',
      'tOKENS',
      'sqlite_x',
      'pg_class',
      'Plants',
      '1a',
      'a"b',
      '',
      'a'.repeat(56),
      'é',
    ]) {
      const opened = open({ [name]: { key: 'text' } })
      await t.rejects(
        opened,
        { name: 'StartupError', message: `the collection ${name} needs another name` },
        name,
      )
    }
    await t.rejects(open({ aB: { key: 'text' }, ab: { key: 'text' } }), {
      message: 'the collection aB or ab needs another name',
    })
    const store = await open({ order: { key: 'text' }, bigPlants_2: { key: 'int64' } })
    t.teardown(() => store.close())
    const orders = store.collection<unknown, string>('order', { parse: JSON.parse })
    t.strictSame(await orders.create('joe', 'a', { a: 1 }), { a: 1 }, 'a word of SQL')
    t.throws(() => store.collection('plants', { parse: JSON.parse }), {
      message: 'the store has no collection plants',
    })
  },
)
