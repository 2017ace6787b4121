// The store in memory, for tests of methods.
import { readdirSync } from 'node:fs'
import t from 'tap'
import { testStore } from '../src/index.ts'
import { product } from '../../../test/support/product/product.ts'

t.test('it is the embedded store: exact, ordered, atomic, and checked by the schema', async (t) => {
  const { plants, notes } = await testStore(product)
  const ids = [2n ** 53n + 1n, -1n, 2n ** 53n]
  await Promise.all(ids.map((id) => plants.create('ann', id, { name: String(id) })))
  const { items, next } = await plants.list('ann', { limit: 2 })
  t.strictSame('text' in items && JSON.parse(items.text), [
    { name: '-1' },
    { name: '9007199254740992' },
  ])
  t.type(next, 'string')
  t.equal(await plants.find('bob', -1n), undefined)

  await notes.create('ann', 'a', { text: '', count: 0n })
  const add = () => notes.update('ann', 'a', (note) => ({ ...note, count: note.count + 1n }))
  await Promise.all(Array.from({ length: 32 }, add))
  t.equal((await notes.find('ann', 'a'))?.count, 32n, 'no change is lost')
  const wrong = { name: 7 } as never
  await t.rejects(plants.create('ann', 1n, wrong), { message: /does not fit the schema Plant/ })
  await t.rejects(plants.list('ann', { cursor: 'x' }), {
    message: 'The cursor is not from a page of this collection',
  })
})

t.test('each store is its own, and leaves no file', async (t) => {
  const before = readdirSync('.')
  const [first, second] = await Promise.all([testStore(product), testStore(product)])
  await first.plants.create('ann', 1n, { name: 'Aloe' })
  t.equal(await second.plants.find('ann', 1n), undefined)
  t.strictSame(readdirSync('.'), before)
})

t.test('its collections have the types of the contract', async () => {
  const { plants } = await testStore(product)
  await plants.create('ann', 1n, { name: 'Aloe' })
  // @ts-expect-error The keys are int64.
  plants.find.bind(undefined, 'ann', '1')
})
