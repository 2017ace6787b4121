// Keys and int64 members at their limits: the same on each engine. model.test.ts has pages after any key.
import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import type { Collection, Key } from '../../../service/engine/store/store.ts'
import { type Engine, startEngines } from '../../support/engines.ts'
import { namesOf, read } from '../../support/pages.ts'

const MAX = 2n ** 63n - 1n
const MIN = -(2n ** 63n)
const INTEGERS = [0n, MAX, MIN, -1n, 2n ** 53n, 2n ** 53n + 1n, MAX - 1n, MIN + 1n, -(2n ** 53n) - 1n, -(2n ** 53n)]

for (const engine of await startEngines(t)) t.test(`keys on ${engine.name}`, (t) => suite(t, engine))

async function suite(t: Test, engine: Engine): Promise<void> {
  const { store } = await engine.open(t)
  const { notes } = store

  t.test('int64 keys are exact in their whole range, and ascend by their values', async (t) => {
    for (const key of INTEGERS) await store.create('int64', key, { name: String(key) })
    const sorted = INTEGERS.toSorted((one, two) => (one < two ? -1 : 1)).map(String)
    t.strictSame(await namesOf(store.list('int64')), sorted)
    for (const key of INTEGERS) {
      t.strictSame(await store.find('int64', key), { name: String(key) })
      t.equal(await store.delete('int64', key), true)
    }
  })

  t.test('text keys differ if a byte differs, and ascend by their bytes in UTF-8', async (t) => {
    const keys = [
      ...' |A|a|a |aa|a\u0301|b|e\u0301|\u007f|\u0080|é|ß|\u{212B}|植|\uD7FF|\u0001|%_\'"\\;--'.split('|'),
      ...'\uE000|\uFFFF|\u{10000}|🌵|\u{10FFFF}'.split('|'), // U+10000 is before U+E000 in UTF-16
      randomBytes(768).toString('base64'), // 1024 bytes that no index compresses
      `x${'y'.repeat(1023)}`,
    ]
    const sorted = keys.toSorted((one, two) => Buffer.compare(Buffer.from(one), Buffer.from(two)))
    for (const key of keys) t.match(await notes.create('text', key, { text: key, count: 0n }), { text: key })
    const listed = (await read(notes.list('text'))).items.map(({ text }) => text)
    t.strictSame(listed, sorted)
    for (const key of keys) t.equal((await notes.find('text', key))?.text, key)
    for (const key of keys) t.equal(await notes.delete('text', key), true)
  })

  t.test('a key that can not be stored is 400 in a create, and finds nothing elsewhere', async (t) => {
    const refused = { name: 'HttpError', statusCode: 400 }
    const isNowhere = async <Item, K extends Key>(items: Collection<Item, K>, key: K, item: Item) => {
      await t.rejects(items.create('bad', key, item), refused)
      t.strictSame([await items.find('bad', key), await items.delete('bad', key)], [undefined, false])
      t.equal(await items.update('bad', key, () => item), undefined)
    }
    for (const key of [MAX + 1n, MIN - 1n, 2n ** 64n]) await isNowhere(store, key, { name: 'x' })
    for (const key of ['', '\0', 'a\0', '\uD800', 'a\uDC00b', 'x'.repeat(1025), 'é'.repeat(513)])
      await isNowhere(notes, key, { text: 'x', count: 0n })
    t.strictSame([await read(store.list('bad')), await read(notes.list('bad'))], [{ items: [] }, { items: [] }])
  })

  t.test('a cursor that no page has given is 400', async (t) => {
    const int64 = Buffer.alloc(8, 1).toString('base64url')
    const text = Buffer.from('é').toString('base64url')
    const wrong = ['', 'x', '=', '%', ' ']
    const wrongInt64s = [text, `${int64}A`, int64.slice(1), `${int64}=`, `${int64.slice(0, -1)}F`, `${int64}é`]
    const bytes = [Buffer.from('é').subarray(1), Buffer.from('\uD800', 'utf16le'), Buffer.from('a\0')]
    const wrongTexts = [...bytes, Buffer.alloc(1025, 'x')].map((each) => each.toString('base64url'))
    const refused = { name: 'HttpError', statusCode: 400, message: /cursor/ }
    for (const cursor of [...wrong, ...wrongInt64s]) await t.rejects(store.list('joe', { cursor }), refused, cursor)
    for (const cursor of [...wrong, `${text}=`, `${text.slice(0, -1)}l`, ...wrongTexts])
      await t.rejects(notes.list('joe', { cursor }), refused, cursor)
    t.strictSame(await read(store.list('joe', { cursor: int64 })), { items: [] })
    t.strictSame(await read(notes.list('joe', { cursor: text })), { items: [] })
  })

  t.test('an int64 in an item is exact, and always a bigint', async (t) => {
    for (const [at, count] of INTEGERS.entries()) {
      const note = { text: 'a', count }
      t.strictSame(await notes.create('exact', `${at}`, note), note)
      t.strictSame(await notes.create('exact', `${at}`, { text: 'b', count: 7n }), note, 'as it was stored')
      t.strictSame(await notes.find('exact', `${at}`), note)
      let seen: unknown
      t.strictSame(await notes.update('exact', `${at}`, (stored) => (seen = stored)), note)
      t.strictSame(seen, note)
    }
    const listed = (await read(notes.list('exact'))).items.map(({ count }) => String(count))
    t.strictSame(listed, INTEGERS.map(String))
  })
}
