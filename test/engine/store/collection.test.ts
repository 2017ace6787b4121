// Writes of a collection that arrive together, with keys of both types, on each engine. model.test.ts has the other answers.
import t, { type Test } from 'tap'
import type { Key } from '../../../service/engine/store/store.ts'
import { type Engine, forEachCollection, type Kind, range } from '../../support/engines.ts'
import { read } from '../../support/pages.ts'

await forEachCollection(t, suite)

async function suite<Item, K extends Key>(t: Test, kind: Kind<Item, K>, engine: Engine): Promise<void> {
  const { key, item, textOf } = kind
  const { store, reopen } = await engine.open(t)
  const items = kind.of(store)
  const textsOf = async (owner: string) => (await read(items.list(owner))).items.map(textOf)

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

  t.test('a list shows all writes that were answered before it', async (t) => {
    const writes = [
      { write: () => items.create('shown', key(1), item('a')), texts: ['a'] },
      { write: () => items.update('shown', key(1), () => item('b')), texts: ['b'] },
      { write: () => items.create('shown', key(2), item('c')), texts: ['b', 'c'] },
      { write: () => items.delete('shown', key(1)), texts: ['c'] },
    ]
    for (const [place, { write, texts }] of writes.entries()) {
      // The write waits for the end of the turn, because another one comes first. The list is read before that.
      await Promise.all([items.create('other', key(place), item('x')), write(), textsOf('shown')])
      t.strictSame(await textsOf('shown'), texts)
    }
  })

  t.test('no change of an item is lost, also if two processes make them', async (t) => {
    const another = engine.isShared ? await reopen() : store
    await items.create('count', key(1), item('0'))
    const increment = (old: Item) => item(String(Number(textOf(old)) + 1))
    const all = await Promise.all(
      range(32).map((n) => kind.of(n % 2 === 0 ? store : another).update('count', key(1), increment)),
    )
    t.strictSame(await textsOf('count'), ['32'])
    const answers = new Set(all.map((each) => each && textOf(each)))
    t.strictSame(answers, new Set(range(32).map((n) => String(n + 1))), 'each answers with its own change')
  })
}
