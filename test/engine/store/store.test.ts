// Tests that each engine keeps the promises of the Store interface. Those of its collections: collection, keys, lists.test.ts
import t, { type Test } from 'tap'
import { makeCollection } from '../../../service/engine/store/collection.ts'
import { openStore } from '../../../service/engine/store/open.ts'
import { type Engine, range, startEngines } from '../../support/engines.ts'
import { namesOf } from '../../support/pages.ts'
import { product } from '../../support/product/product.ts'

for (const engine of await startEngines(t)) t.test(`a store on ${engine.name}`, (t) => suite(t, engine))

async function suite(t: Test, engine: Engine): Promise<void> {
  const { store, reopen } = await engine.open(t)

  t.test('access tokens are added, found, listed and deleted', async (t) => {
    const digest = (n: number) => new Uint8Array(32).fill(n)
    const old = { id: 'old', caller: 'joe', created: new Date(1), expires: new Date(2), digest: digest(1), scopes: [] }
    const tokens = [
      { id: 'b', caller: 'jöe', created: new Date(5e12), digest: digest(0), scopes: ['plants:read', 'b'] },
      old,
      { id: 'a', caller: 'x', created: new Date(3), digest: digest(2), scopes: ['x'] },
    ]
    t.equal(await store.findToken(digest(0)), undefined)
    for (const token of tokens) await store.addToken(token)
    for (const token of tokens) t.strictSame(await store.findToken(token.digest), token, 'expired or not')
    t.equal(await store.findToken(digest(9)), undefined)
    t.strictSame(await store.listTokens(), [old, tokens[2], tokens[0]])
    t.equal(await store.deleteToken('old'), true)
    t.equal(await store.deleteToken('old'), false)
    t.equal(await store.findToken(digest(1)), undefined)
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
    t.equal((await again.listTokens()).length, 2)
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
      message: 'the keys of the collection plants are no text',
    })
  })

  t.test('a store is empty until it has an item or a token', async (t) => {
    const { store } = await engine.open(t)
    t.equal(await store.isEmpty(), true)
    await store.create('joe', 1n, { name: 'a' })
    t.equal(await store.isEmpty(), false)
    await store.delete('joe', 1n)
    await store.notes.create('joe', 'a', { text: 'a', count: 1n })
    t.equal(await store.isEmpty(), false)
    await store.notes.delete('joe', 'a')
    t.equal(await store.isEmpty(), true)
    const digest = new Uint8Array(32)
    await store.addToken({ id: 'a', caller: 'joe', created: new Date(), expires: new Date(0), digest, scopes: [] })
    t.equal(await store.isEmpty(), false)
  })
}

t.test('a collection needs a name that SQL takes, and that the store does not use itself', async (t) => {
  const file = `${t.testdir()}/names.db`
  for (const name of ['tokens', 'tOKENS', 'sqlite_x', 'Plants', '1a', 'a"b', '', 'a'.repeat(56), 'é']) {
    const opened = openStore({ file }, { collections: { [name]: { key: 'text' } } })
    await t.rejects(opened, { name: 'StartupError', message: `the collection ${name} needs another name` }, name)
  }
  const twins = { collections: { aB: { key: 'text' }, ab: { key: 'text' } } } as const
  await t.rejects(openStore({ file }, twins), { message: 'the collection aB or ab needs another name' })
  const store = await openStore({ file }, { collections: { order: { key: 'text' }, bigPlants_2: { key: 'int64' } } })
  t.teardown(() => store.close())
  const orders = makeCollection<unknown, string>(store, 'order', JSON.parse)
  t.strictSame(await orders.create('joe', 'a', { a: 1 }), { a: 1 }, 'a word of SQL')
  t.throws(() => makeCollection(store, 'plants', JSON.parse), { message: 'the store has no collection plants' })
})
