import t from 'tap'
import { type Answer, build } from './helper.ts'

const { call, token } = await build(t)
let callers = 0

/** The operations of a caller who has no plants. */
async function newCaller() {
  const caller = await token(`caller${(callers += 1)}`)
  return {
    create: (id: number | bigint, plant: object) =>
      call({ method: 'POST', path: '/plants', token: caller, body: { id, ...plant } }),
    list: (query = '') => call({ path: `/plants${query}`, token: caller }),
    remove: (id: number | bigint) => call({ method: 'DELETE', path: `/plants/${id}`, token: caller }),
  }
}

t.test('a plant is created, listed and deleted once', async (t) => {
  const { create, list, remove } = await newCaller()
  const created = await create(7, { name: 'Rose', tag: 'garden' })
  t.equal(created.status, 200)
  t.strictSame(created.json, { name: 'Rose', tag: 'garden' })
  t.strictSame((await list()).json, [{ name: 'Rose', tag: 'garden' }])
  t.equal((await remove(7)).status, 204)
  t.equal((await remove(7)).status, 404)
  t.strictSame((await list()).json, [])
})

t.test('to repeat a create is safe; with other content it is 409 and changes nothing', async (t) => {
  const { create, list } = await newCaller()
  const plants = [{ name: 'Rose' }, { name: 'Rose', tag: '' }, { name: 'Rose', tag: 'garden' }]
  for (const [id, plant] of plants.entries()) await create(id, plant)
  for (const [id, stored] of plants.entries()) {
    for (const plant of [...plants, { name: 'rose' }]) {
      const { status, json } = await create(id, plant)
      t.equal(status, plant === stored ? 200 : 409)
      if (plant === stored) t.strictSame(json, stored)
    }
  }
  t.strictSame((await list()).json, plants)
})

t.test('of 50 simultaneous creates of one id, one plant comes', async (t) => {
  const { create, list } = await newCaller()
  const names = Array.from({ length: 50 }, (_, index) => `name ${index % 5}`)
  const answers = await Promise.all(names.map((name) => create(1, { name })))
  const [stored] = (await list()).json as { name: string }[]
  t.strictSame(
    answers.map(({ status }) => status),
    names.map((name) => (name === stored?.name ? 200 : 409)),
  )
  t.strictSame((await list()).json, [stored])
})

t.test("another's plant and no plant are the same 404, to the byte", async (t) => {
  const [owner, other] = [await newCaller(), await newCaller()]
  await owner.create(7, { name: 'Rose' })
  const unlike = ({ status, text, headers: { date: _date, 'x-request-id': _id, ...headers } }: Answer) => ({
    status,
    text,
    headers,
  })
  const [foreign, none] = [await other.remove(7), await other.remove(8)]
  t.equal(foreign.status, 404)
  t.strictSame(unlike(foreign), unlike(none))
  t.strictSame((await owner.list()).json, [{ name: 'Rose' }])
})

t.test('two callers may use the same id, and see and delete only their own plant', async (t) => {
  const [one, two] = [await newCaller(), await newCaller()]
  t.equal((await one.create(7, { name: 'one' })).status, 200)
  t.equal((await two.create(7, { name: 'two' })).status, 200)
  t.strictSame((await one.list()).json, [{ name: 'one' }])
  t.equal((await one.remove(7)).status, 204)
  t.strictSame((await two.list()).json, [{ name: 'two' }])
})

t.test('the list is in ascending order of ids, and paged by Link to its end', async (t) => {
  const { create, list } = await newCaller()
  const ids = [3n, -(2n ** 63n), 10n, -1n, 0n, 2n ** 63n - 1n, 9007199254740993n, 9007199254740992n, -20n]
  for (const id of ids) await create(id, { name: `${id}` })
  const sorted = ids.toSorted((a, b) => (a < b ? -1 : 1)).map((id) => ({ name: `${id}` }))
  t.strictSame((await list()).json, sorted)
  t.notOk('link' in (await list()).headers)
  for (const limit of [1, 2, 3, 8, 9, 10, 2147483647]) {
    const found: unknown[] = []
    let pages = 0
    for (let query: string | undefined = `?limit=${limit}`; query !== undefined; pages += 1) {
      const { json, headers } = await list(query)
      found.push(...(json as unknown[]))
      // A reference relative to the request, to be followed as it is.
      query = /^<(\?[^>]+)>; rel="next"$/.exec(String(headers['link'] ?? ''))?.[1]
    }
    t.strictSame(found, sorted, `limit ${limit}`)
    t.equal(pages, Math.ceil(ids.length / limit))
  }
})

t.test('a cursor works with or without limit, and after the last plant', async (t) => {
  const { create, list } = await newCaller()
  for (const id of [1, 2, 3]) await create(id, { name: `${id}` })
  const cursor = /cursor=([^>]+)/.exec(String((await list('?limit=1')).headers['link']))?.[1] ?? ''
  t.strictSame((await list(`?cursor=${cursor}`)).json, [{ name: '2' }, { name: '3' }])
  t.strictSame((await list(`?cursor=${cursor}&limit=1&other=7`)).json, [{ name: '2' }])
  t.strictSame((await list('?cursor=f_________8')).json, [], 'after the greatest id')
  for (const invalid of [
    '',
    'x',
    `${cursor}A`,
    cursor.slice(1),
    `${cursor.slice(0, -1)}B`,
    `${cursor}&cursor=${cursor}`,
  ]) {
    t.equal((await list(`?cursor=${invalid}`)).status, 400, invalid)
  }
})

t.test('a cursor gives no right to the plants of another', async (t) => {
  const [owner, other] = [await newCaller(), await newCaller()]
  for (const id of [1, 2]) await owner.create(id, { name: 'secret' })
  const cursor = /cursor=([^>]+)/.exec(String((await owner.list('?limit=1')).headers['link']))?.[1] ?? ''
  t.strictSame((await other.list(`?cursor=${cursor}`)).json, [])
})
