// Tests that collections keep the promises of `Collection`, with keys of both types, on each engine.
import t, { type Test } from 'tap'
import type { Key } from '../../../service/engine/store/store.ts'
import { type Engine, forEachCollection, type Kind, range } from '../../support/engines.ts'
import { read } from '../../support/pages.ts'

await forEachCollection(t, suite)

async function suite<Item, K extends Key>(t: Test, kind: Kind<Item, K>, engine: Engine): Promise<void> {
  const { key, item, textOf } = kind
  const { store, reopen } = await engine.open(t)
  t.teardown(() => store.close())
  const items = kind.of(store)
  const textsOf = async (owner: string) => (await read(items.list(owner))).items.map(textOf)

  t.test('a create returns the item that the owner now has under this key', async (t) => {
    t.strictSame(await items.create('create', key(1), item('Rose')), item('Rose'))
    t.strictSame(await items.create('create', key(1), item('Rose')), item('Rose'), 'repeated')
    t.strictSame(await items.create('create', key(1), item('Tulip')), item('Rose'), 'the key is taken')
    t.strictSame(await textsOf('create'), ['Rose'])
  })

  t.test('one of several simultaneous creates with the same key wins, and all return its item', async (t) => {
    const all = await Promise.all(range(20).map((n) => items.create('race', key(1), item(`${n}`))))
    const [stored] = (await read(items.list('race'))).items
    for (const each of all) t.strictSame(each, stored)
  })

  t.test('owners can use the same key; no owner sees, changes or deletes the items of another', async (t) => {
    const owners = ['joe', 'Joe', 'joe ', 'jöe', '']
    for (const owner of owners) await items.create(owner, key(1), item(`of "${owner}"`))
    for (const owner of owners) {
      t.strictSame(await read(items.list(owner, { limit: 1 })), { items: [item(`of "${owner}"`)] })
      t.strictSame(await items.find(owner, key(1)), item(`of "${owner}"`))
    }
    t.strictSame(await items.update('joe', key(1), () => item('changed')), item('changed'))
    t.equal(await items.delete('joe', key(1)), true)
    t.equal(await items.update('joe', key(1), () => item('x')), undefined)
    t.equal(await items.find('joe', key(1)), undefined)
    for (const owner of owners.slice(1)) t.strictSame(await textsOf(owner), [`of "${owner}"`])
  })

  t.test('a delete says whether there was an item, and frees the key', async (t) => {
    t.equal(await items.delete('delete', key(1)), false)
    await items.create('delete', key(1), item('a'))
    t.strictSame((await Promise.all([1, 2].map(() => items.delete('delete', key(1))))).sort(), [false, true])
    t.strictSame(await items.create('delete', key(1), item('b')), item('b'))
  })

  t.test('an update sees the stored item, and answers with what is stored then', async (t) => {
    const seen: unknown[] = []
    const update = (change: (item: Item) => Item | undefined) =>
      items.update('update', key(2), (item) => {
        seen.push(item)
        return change(item)
      })
    t.equal(await update(() => item('a')), undefined)
    t.strictSame([seen, await items.find('update', key(2))], [[], undefined], 'an update creates nothing')
    await items.create('update', key(2), item('a'))
    await items.create('update', key(1), item('before it'))
    t.strictSame(await update(() => item('b')), item('b'))
    t.strictSame(await update(() => undefined), item('b'), 'undefined leaves the item')
    t.strictSame(seen, [item('a'), item('b')])
    t.strictSame(await items.find('update', key(2)), item('b'))
    const failure = new Error('no change')
    const fails = update(() => {
      throw failure
    })
    await t.rejects(fails, failure)
    t.strictSame(await textsOf('update'), ['before it', 'b'], 'a change that throws changes nothing')
  })

  t.test('a change that throws does not affect the writes that arrive with it', async (t) => {
    await Promise.all([1, 2, 3].map((place) => items.create('throws', key(place), item('old'))))
    const results = await Promise.allSettled([
      items.update('throws', key(1), () => item('new')),
      items.update('throws', key(2), () => {
        throw new Error('no change')
      }),
      items.update('throws', key(3), () => item('new')),
      items.create('throws', key(4), item('new')),
    ])
    const statuses = results.map(({ status }) => status)
    t.strictSame(statuses, ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
    t.strictSame(await textsOf('throws'), ['new', 'old', 'new', 'new'])
  })

  t.test('an item that is deleted and changed at the same time is gone', async (t) => {
    await items.create('gone', key(1), item('a'))
    const [deleted] = await Promise.all([
      items.delete('gone', key(1)),
      items.update('gone', key(1), () => item('b')),
      items.update('gone', key(1), () => item('c')),
    ])
    t.equal(deleted, true)
    t.strictSame(await textsOf('gone'), [])
  })

  t.test('no change of an item is lost, also if two processes make them', async (t) => {
    const another = engine.isShared ? await reopen() : store
    t.teardown(() => another !== store && another.close())
    await items.create('count', key(1), item('0'))
    const increment = (item: Item) => kind.item(String(Number(textOf(item)) + 1))
    const all = await Promise.all(
      range(32).map((n) => kind.of(n % 2 === 0 ? store : another).update('count', key(1), increment)),
    )
    t.strictSame(await textsOf('count'), ['32'])
    const answers = all.map((each) => each && Number(textOf(each))).sort((one, two) => Number(one) - Number(two))
    t.strictSame(
      answers,
      range(32).map((n) => n + 1),
      'each answers with its own change',
    )
  })

  t.test('texts are stored exactly, and are not normalized', async (t) => {
    const texts = [
      ' a ',
      'é e\u0301 \u212B Å',
      '👩‍🌾🏽 🌵 \u{10FFFF} \uFFFF \uFFFD \uFEFF',
      '\u202Eright to left\u202C שלום',
      '"\\\'`;--%_$1?\u0001\u001F\u007F\u0085\u2028\r\n\t',
      '植'.repeat(255),
      '🌵'.repeat(255),
      '1e400',
      'null',
      '',
    ]
    for (const [place, text] of texts.entries()) {
      t.strictSame(await items.create('text', key(place), item(text)), item(text))
      t.strictSame(await items.create('text', key(place), item('x')), item(text), 'as it was stored')
      t.strictSame(await items.find('text', key(place)), item(text))
    }
    t.strictSame(await textsOf('text'), texts)
  })
}
