// The promises of `Collection`, with keys of both types, on each engine. model.test.ts has those of one call after the other.
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
