import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { JsonText } from '../../../service/http/json.ts'
import type { ShortPage } from '../../../service/store/lists.ts'
import type { Plant } from '../../../service/store/store.ts'
import { PageCache } from '../../../service/store/sqlite/pages.ts'

/** Pages of a text, and what was read for them. */
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

t.test('a page is read once, and again when its owner has written', async (t) => {
  const { pages, reads } = counted()
  const asked: [string, bigint | undefined, number][] = [
    ['joe', undefined, 20],
    ['joe', 1n, 20],
    ['joe', 1n, 2],
    ['ann', 1n, 2],
  ]
  for (let times = 0; times < 3; times++) for (const each of asked) pages.get(...each)
  t.strictSame(reads, ['joe undefined 20', 'joe 1 20', 'joe 1 2', 'ann 1 2'])
  pages.drop('joe')
  for (const each of asked) pages.get(...each)
  t.strictSame(reads.slice(4), ['joe undefined 20', 'joe 1 20', 'joe 1 2'])
})

t.test('a page is read again after a second: somebody may have edited the file by hand', async (t) => {
  const { pages, reads } = counted()
  pages.get('joe', undefined, 20)
  await delay(1200)
  pages.get('joe', undefined, 20)
  t.equal(reads.length, 2)
})

t.test('no more than 16 million characters are kept', async (t) => {
  const { pages, reads } = counted('x'.repeat(1_000_000))
  for (let most = 1; most <= 16; most++) pages.get('joe', undefined, most)
  pages.get('joe', undefined, 1)
  t.equal(reads.length, 16)
  pages.get('joe', undefined, 17)
  pages.get('joe', undefined, 1)
  t.equal(reads.length, 18)
})
