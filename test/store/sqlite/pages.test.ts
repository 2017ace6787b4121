import t from 'tap'
import { JsonText } from '../../../service/http/json.ts'
import type { ShortPage } from '../../../service/store/lists.ts'
import type { Plant } from '../../../service/store/store.ts'
import { PageCache } from '../../../service/store/sqlite/pages.ts'
import { eventually } from '../../support/project.ts'

/** A cache of pages of a text, and what was read for it. */
function counted(text = '[]'): { pages: PageCache<ShortPage>; reads: string[] } {
  const reads: string[] = []
  const pages = new PageCache(
    (owner, after, most) => {
      reads.push(`${owner} ${after} ${most}`)
      return { plants: new JsonText<Plant[]>(text) }
    },
    ({ plants }) => plants.text.length,
  )
  return { pages, reads }
}

t.test('a page is read once, and again when something was written', async (t) => {
  const { pages, reads } = counted()
  const asked: [string, bigint | undefined, number][] = [
    ['joe', undefined, 20],
    ['joe', 1n, 20],
    ['joe', 1n, 2],
    ['ann', 1n, 2],
  ]
  for (let times = 0; times < 3; times++) for (const each of asked) pages.get(...each)
  t.strictSame(reads, ['joe undefined 20', 'joe 1 20', 'joe 1 2', 'ann 1 2'])
  pages.clear()
  for (const each of asked) pages.get(...each)
  t.strictSame(reads.slice(4), reads.slice(0, 4))
})

t.test(
  'a page is read again after a time, also while others are read: somebody may have edited the file by hand',
  async (t) => {
    const { pages, reads } = counted()
    let others = 0
    await eventually(() => {
      pages.get('joe', undefined, 20)
      pages.get('joe', BigInt(++others), 20)
      return reads.filter((read) => read === 'joe undefined 20').length === 2
    })
    t.ok(others > 2)
  },
)

t.test('no more than 16 million characters are cached', async (t) => {
  const { pages, reads } = counted('x'.repeat(1_000_000))
  for (let most = 1; most <= 16; most++) pages.get('joe', undefined, most)
  pages.get('joe', undefined, 1)
  t.equal(reads.length, 16)
  pages.get('joe', undefined, 17)
  pages.get('joe', undefined, 2)
  t.equal(reads.length, 18)
})

t.test('what was asked for least recently goes first', async (t) => {
  const { pages, reads } = counted('x'.repeat(5_000_000))
  for (const owner of ['joe', 'ann', 'bob', 'joe', 'zoe', 'joe']) pages.get(owner, undefined, 1)
  t.strictSame(reads, ['joe undefined 1', 'ann undefined 1', 'bob undefined 1', 'zoe undefined 1'])
  pages.get('ann', undefined, 1)
  t.equal(reads.length, 5)
})
