// An item is checked by the schema of its collection before it is stored, on each engine. Older
// items are read as they are.
import t, { type Test } from 'tap'
import { loadCompiler } from '@plant-store/compiler'
import { itemReader, itemWriter, readContract } from '../../../../test/support/inner/contract.ts'
import type { ProductHooks } from '@plant-store/engine/for-compiler'
import type { Product } from '../../src/index.ts'
import type { Collection, Store } from '@plant-store/engine/for-store'
import { build } from '../../../../test/support/servers/start-product.ts'
import { startEngines } from '../../../../test/support/stores/store-engines.ts'
import { read } from '../../../../test/support/stores/read-page.ts'
import { product } from '../../../../test/support/product/product.ts'
import { contract } from '../../../../test/support/contracts/serve-contract.ts'

const SCHEMAS = `
    A:
      type: object
      required: [name, id, secret]
      properties:
        name: { type: string, maxLength: 5 }
        id: { type: integer, readOnly: true }
        secret: { type: string, writeOnly: true }
        n: { type: integer, format: int64 }
        small: { type: integer, format: int32 }
        f: { type: [number, 'null'] }
        day: { type: string, format: date-time }
        even: { type: string, format: even }
        any: {}
        list: { type: array, items: { type: [string, 'null'] } }
        next: { $ref: '#/components/schemas/A' }
    Any: {}
    Open: { type: object, properties: { id: { type: integer, format: int64 } } }
    Text: { type: string, maxLength: 3 }
`

type Item = Record<string, unknown>

/** By name: a value refused by the schema A, and the error. */
const REFUSED: Readonly<Record<string, readonly [item: unknown, text: RegExp]>> = {
  'an int64 that overflows': [{ name: 'x', n: 2n ** 63n }, /item\/n must be an integer from/],
  'an int64 that is a double': [{ name: 'x', n: 2 ** 63 }, /item\/n must be an integer from/],
  'an int32 that overflows': [{ name: 'x', small: 2n ** 31n }, /item\/small must be an integer/],
  'a lone surrogate': [{ name: '\ud83c' }, /item\/name has a lone surrogate/],
  'a lone surrogate in a name': [{ name: 'x', '\udf31': 1 }, /a name with a lone surrogate/],
  'a lone surrogate anywhere': [
    { name: 'x', any: [{ a: '\ud83c' }] },
    /item\/any\/0\/a has a lone/,
  ],
  'the name __proto__': [
    { name: 'x', any: Object.fromEntries([['__proto__', 1]]) },
    /item\/any has the name __proto__/,
  ],
  'a long text': [{ name: 'longer' }, /item\/name must NOT have more than 5 characters/],
  'a format of the product': [{ name: 'x', even: 'a' }, /item\/even must match format "even"/],
  'a member that is missing': [{}, /item must have required property 'name'/],
  'a member that is undefined': [{ name: undefined }, /item must have required property 'name'/],
  'an item of a list that is undefined': [
    { name: 'x', list: [undefined] },
    /item\/list\/0 is undefined/,
  ],
  'an item of a list that is not there': [
    { name: 'x', list: Array(1) },
    /item\/list\/0 is undefined/,
  ],
  NaN: [{ name: 'x', f: NaN }, /item\/f is NaN/],
  Infinity: [{ name: 'x', any: -Infinity }, /item\/any is -Infinity/],
  'a function': [{ name: 'x', any: () => 1 }, /item\/any is a function/],
  'a symbol': [{ name: 'x', any: Symbol('1.5') }, /item\/any is a symbol/],
  'a Date': [{ name: 'x', day: new Date(0) }, /item\/day is a Date/],
  'a Map': [{ name: 'x', any: new Map() }, /item\/any is a Map/],
  'a toJSON': [{ name: 'x', toJSON: () => ({ name: 'x' }) }, /item\/toJSON is a function/],
  'a promise': [Promise.resolve({ name: 'x' }), /item is a Promise/],
  'a promise in it': [{ name: 'x', any: Promise.resolve(1) }, /item\/any is a Promise/],
  'a text': ['x', /item must be object/],
  'a list': [[], /item must be object/],
  null: [null, /item must be object/],
}
const cycle: Item = { name: 'x' }
cycle['next'] = cycle

for (const engine of await startEngines(t)) {
  t.test(`what the schema refuses is not stored, on ${engine.name}`, async (t) => {
    const items = await openItems(t, (await engine.open(t)).store, 'A')
    const old = { name: 'old', n: 1n }
    await items.create('joe', 1n, old)
    for (const [name, [item, text]] of Object.entries(REFUSED)) {
      const error = { name: 'Error', message: text }
      await t.rejects(items.create('joe', 2n, item as Item), error, name)
      await t.rejects(
        items.update('joe', 1n, () => item as Item),
        error,
        `${name}, updated`,
      )
    }
    await t.rejects(items.create('joe', 2n, cycle))
    await t.rejects(items.update('joe', 1n, () => cycle))
    await t.rejects(items.create('joe', 2n, undefined as unknown as Item), /item is undefined/)
    t.strictSame(await items.find('joe', 1n), old)
    t.equal(await items.find('joe', 2n), undefined)
    t.strictSame((await read(items.list('joe'))).items, [{ name: 'old', n: 1 }])
  })

  t.test(`what it allows is stored as it is, on ${engine.name}`, async (t) => {
    const { store } = await engine.open(t)
    const items = await openItems(t, store, 'A')
    for (const [key, item] of [
      { name: 'x', n: 2n ** 63n - 1n, f: 1.5, any: { a: [1n, null, true] } },
      { name: '🌱🌱🌱🌱🌱', f: null, list: ['a', null], next: { name: 'y', n: -(2n ** 63n) } },
      Object.assign(Object.create(null) as Item, { name: 'z' }),
      { name: 'x', id: 1, secret: 's' },
      { name: 'x', n: undefined },
    ].entries()) {
      const { n, ...others } = item
      const read = n === undefined ? others : { ...others, n }
      await items.create('joe', BigInt(key), item)
      t.match(await items.find('joe', BigInt(key)), read)
      t.match(await items.update('joe', BigInt(key), (stored) => ({ ...stored })), read)
    }
    const texts = await openItems<string>(t, store, 'Text')
    await texts.create('ann', 1n, 'abc')
    t.equal(await texts.find('ann', 1n), 'abc')
    await t.rejects(texts.create('ann', 2n, 'abcd'), { message: /NOT have more than 3/ })
  })

  t.test(`an async change is refused, whatever the schema allows, on ${engine.name}`, async (t) => {
    const { store } = await engine.open(t)
    for (const schema of ['A', 'Any', 'Open']) {
      const items = await openItems(t, store, schema)
      await items.create(schema, 1n, { name: 'x' })
      const changes = [async () => ({ name: 'y' }), () => Promise.reject(new Error('no'))]
      for (const change of changes)
        await t.rejects(items.update(schema, 1n, change as never), { message: /is a Promise/ })
      t.strictSame(await items.find(schema, 1n), { name: 'x' })
    }
  })

  t.test(`the other writes of a batch are done, on ${engine.name}`, async (t) => {
    const items = await openItems(t, (await engine.open(t)).store, 'A')
    await Promise.all([1n, 2n, 3n].map((key) => items.create('joe', key, { name: 'old' })))
    const writes = [
      items.update('joe', 1n, () => ({ name: 'new' })),
      items.update('joe', 2n, () => ({ name: 'longer' })),
      items.create('joe', 4n, { name: 'longer' }),
      items.create('joe', 5n, { name: 'new' }),
      items.update('joe', 3n, () => ({ name: 'new', n: 2n ** 63n })),
      items.delete('joe', 3n),
    ]
    const statuses = (await Promise.allSettled(writes)).map(({ status }) => status[0])
    t.equal(statuses.join(''), 'frrfrf')
    const names = (await read(items.list('joe'))).items.map(({ name }) => name)
    t.strictSame(names, ['new', 'old', 'new'])
  })

  t.test(`an item that is older than its schema is read, on ${engine.name}`, async (t) => {
    const { store } = await engine.open(t)
    await (await openItems(t, store, 'Any')).create('joe', 1n, { name: 'longer', n: 7n })
    const items = await openItems(t, store, 'A')
    t.strictSame(await items.find('joe', 1n), { name: 'longer', n: 7n })
    t.strictSame(await items.create('joe', 1n, { name: 'x' }), { name: 'longer', n: 7n })
    t.strictSame(await items.update('joe', 1n, () => undefined), { name: 'longer', n: 7n })
    const change = (name: string) => items.update('joe', 1n, (stored) => ({ ...stored, name }))
    await t.rejects(change('still long'), { message: /item\/name/ })
    t.strictSame(await change('short'), { name: 'short', n: 7n })
  })
}

t.test('the service answers 500, and what is stored stays', async (t) => {
  const { call, token, log } = await build(t)
  const joe = await token('joe')
  const name = 'x'.repeat(255)
  const plant = { path: '/plants', token: joe }
  t.equal((await call({ ...plant, method: 'POST', body: { id: 1, name } })).status, 200)
  const change = { method: 'PUT', path: '/plants/1', token: joe, failing: true }
  t.equal((await call(change)).status, 500)
  t.match(
    JSON.stringify(log),
    /the item does not fit the schema Plant: item.name must NOT have more than/,
  )
  t.strictSame((await call(plant)).json, [{ name }])
})

t.test(
  'a start compiles the schema of a new collection, and refuses one without schema',
  async (t) => {
    const collectionsOf = (schema: string): Product => ({
      ...product,
      collections: { ...product.collections, more: { schema, key: 'int64' } },
    })
    const { app } = await build(t, {}, collectionsOf('NewNote'))
    t.strictSame(Object.keys(app.contract.items).sort(), ['NewNote', 'Note', 'Plant'])
    await t.rejects(build(t, {}, collectionsOf('Missing')), {
      name: 'StartupError',
      message: /the collection more needs the schema Missing in components.schemas/,
    })
  },
)

/** The collection of plants, with items of a schema. */
async function openItems<Stored = Item>(
  t: Test,
  store: Store,
  schema: string,
): Promise<Collection<Stored>> {
  const folder = t.testdir({
    'openapi.yaml': contract(`paths: {}\ncomponents:\n  schemas:${SCHEMAS}`),
  })
  const stored: ProductHooks = {
    collections: { plants: { schema, key: 'int64' } },
    formats: { even: (text: string) => text.length % 2 === 0 },
  }
  const read = await readContract(`${folder}/openapi.yaml`, { product: stored, loadCompiler })
  const parse = itemReader(read, schema) as (text: string) => Stored
  return store.collection('plants', { parse, write: itemWriter(read, schema) })
}
