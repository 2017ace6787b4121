import t from 'tap'
import { JsonText } from '../../../service/http/json.ts'
import type { Page, Plant } from '../../../service/store/store.ts'
import { PageCache } from '../../../service/store/sqlite/page-cache.ts'
import { eventually } from '../../support/project.ts'

/** Reads pages through a cache. @returns also the keys of the pages that were really read */
function counted(text = '[]') {
  const cache = new PageCache()
  const reads: string[] = []
  let version = 0
  const write = () => {
    version += 1
  }
  const get = async (key: string): Promise<Page> =>
    cache.get(version, key, async () => {
      reads.push(key)
      return { plants: new JsonText<Plant[]>(text) }
    })
  return { cache, reads, get, write }
}

t.test('a page is read once, and again after a write', async (t) => {
  const { reads, get, write } = counted()
  const keys = ['joe undefined 20', 'joe 1 20', 'joe 1 2', 'ann 1 2']
  for (let times = 0; times < 3; times++) for (const key of keys) await get(key)
  t.strictSame(reads, keys)
  write()
  for (const key of keys) await get(key)
  t.strictSame(reads, [...keys, ...keys])
})

t.test('a page is not cached if something is written while it is read', async (t) => {
  for (const reader of ['joe', 'ann']) {
    const { reads, get, write } = counted()
    const page = get('joe')
    write()
    if (reader === 'ann') await get('ann') // the cache drops the pages of the older version now
    await page
    await get('joe')
    t.strictSame(reads, reader === 'ann' ? ['joe', 'ann', 'joe'] : ['joe', 'joe'])
  }
})

t.test('a page that is read in batches is not cached', async (t) => {
  const { cache, reads, get } = counted()
  await cache.get(0, 'joe', async () => ({ plants: (async function* () {})() }))
  await get('joe')
  t.strictSame(reads, ['joe'])
})

t.test('a page is read again after CACHE_TTL, because the file may be edited by hand', async (t) => {
  const { reads, get } = counted()
  let others = 0
  await eventually(async () => {
    await get('joe')
    await get(String(++others))
    return reads.filter((read) => read === 'joe').length === 2
  })
  t.ok(others > 2)
})

t.test('the cache has at most 16 million characters, and drops the least recently used page first', async (t) => {
  const { reads, get } = counted('x'.repeat(5_000_000))
  for (const key of ['joe', 'ann', 'bob', 'joe', 'zoe', 'joe']) await get(key)
  t.strictSame(reads, ['joe', 'ann', 'bob', 'zoe'])
  await get('ann')
  t.equal(reads.length, 5)
})
