// Pages of collections with keys of both types, on each engine.
import t, { type Test } from 'tap'
import type { Key } from '../../../service/engine/store/store.ts'
import { type Engine, filling, forEachCollection, type Kind, range } from '../../support/engines.ts'
import { read } from '../../support/pages.ts'

await forEachCollection(t, suite)

async function suite<Item, K extends Key>(t: Test, kind: Kind<Item, K>, engine: Engine): Promise<void> {
  const { key } = kind
  const { store } = await engine.open(t)
  t.teardown(() => store.close())
  const { items, create, placesOf } = filling(kind, store)

  t.test('a list has all that was written before it, even right after another list', async (t) => {
    const write = {
      create: () => items.create('writes', key(1), kind.item('1')),
      update: () => items.update('writes', key(1), () => kind.item('2')),
      delete: () => items.delete('writes', key(1)),
    }
    for (const [what, expected] of [
      ['create', [1]],
      ['update', [2]],
      ['delete', []],
    ] as const) {
      await placesOf(items.list('writes'))
      await write[what]()
      t.strictSame(await placesOf(items.list('writes')), expected)
    }
  })

  t.test('a page has a cursor only if there are more items after it', async (t) => {
    t.strictSame(await read(items.list('nobody')), { items: [] })
    await create('page', [10, 20, 30])
    const cursors = new Map<number, string | undefined>()
    for (const place of [20, 10]) {
      const page = await items.list('page', { limit: place / 10 })
      cursors.set(place, page.next)
      t.strictSame(await placesOf(items.list('nobody', { cursor: page.next, limit: 5 })), [])
    }
    const pages: [after: number | undefined, limit: number | undefined, places: number[], last?: number][] = [
      [undefined, undefined, [10, 20, 30]],
      [undefined, 1, [10], 10],
      [undefined, 2, [10, 20], 20],
      [undefined, 3, [10, 20, 30]],
      [undefined, 4, [10, 20, 30]],
      [undefined, 2 ** 31 - 1, [10, 20, 30]],
      [10, 1, [20], 20],
      [10, 2, [20, 30]],
      [20, undefined, [30]],
    ]
    for (const [after, limit, expected, last] of pages) {
      const page = await items.list('page', { cursor: after === undefined ? undefined : cursors.get(after), limit })
      const found = { places: await placesOf(page), next: page.next }
      t.strictSame(found, { places: expected, next: last && cursors.get(last) }, `${after} ${limit}`)
    }
    await items.delete('page', key(10))
    t.strictSame(await placesOf(items.list('page', { cursor: cursors.get(10) })), [20, 30], 'its item is deleted')
  })

  t.test('pages of any length together give the whole list', async (t) => {
    // More than one step of a long list.
    const all = range(1600)
    await create('many', all, '🌱'.repeat(250))
    for (const limit of [63, 64, 65, 499, 500, 501, 999, 1000, 1001, 1599, 1600, 1601, undefined]) {
      const seen: number[] = []
      for (let cursor: string | undefined, pages = 1; ; pages++) {
        const page = await items.list('many', { cursor, limit })
        seen.push(...(await placesOf(page)))
        cursor = page.next
        if (cursor === undefined) break
        t.equal(seen.length, pages * (limit ?? NaN), 'full pages')
      }
      t.strictSame(seen, all, `limit ${limit}`)
    }
  })
}
