import t from 'tap'
import type { components, operations } from '../../service/contract.gen.ts'
import { start } from './client.ts'

type Plant = components['schemas']['Plant']
type Query = NonNullable<operations['getPayout']['parameters']['query']>

const { call, client, token } = await start(t)
let callers = 0

/** Makes a caller without plants. @returns functions that call the operations as this caller */
async function newCaller() {
  const secret = await token(`caller${(callers += 1)}`)
  const { DELETE, GET, POST } = client(secret)
  return {
    create: (id: number | bigint, plant: Plant) => POST('/plants', { body: { id: BigInt(id), ...plant } }),
    list: async (query: Query = {}) => (await GET('/plants', { params: { query } })).data ?? [],
    /** Follows the Link of a list. */
    next: async (query: Query) => linked((await GET('/plants', { params: { query } })).response.headers.get('link')),
    remove: async (id: number) =>
      (await DELETE('/plants/{id}', { params: { path: { id: BigInt(id) } } })).response.status,
    /** Sends any request, in the contract or not. */
    ask: (method: string, path: string) => call({ method, path, token: secret }),
  }
}

/** The target of a Link header, relative to the request. */
function linked(link: unknown): string | undefined {
  return /^<(\?[^>]+)>; rel="next"$/.exec(String(link))?.[1]
}

t.test('a plant is created, listed and deleted once', async (t) => {
  const { create, list, remove } = await newCaller()
  const { data, response } = await create(7, { name: 'Rose', tag: 'garden' })
  t.equal(response.status, 200, 'it is created')
  t.strictSame(data, { name: 'Rose', tag: 'garden' }, 'it is answered')
  t.strictSame(await list(), [{ name: 'Rose', tag: 'garden' }], 'it is listed')
  t.equal(await remove(7), 204, 'it is deleted')
  t.equal(await remove(7), 404, 'it can not be deleted again')
  t.strictSame(await list(), [], 'it is not listed any more')
})

t.test('a create can be repeated; with other content it is 409 and changes nothing', async (t) => {
  const { create, list } = await newCaller()
  const plants = [{ name: 'Rose' }, { name: 'Rose', tag: '' }, { name: 'Rose', tag: 'garden' }]
  for (const [id, plant] of plants.entries()) await create(id, plant)
  for (const [id, stored] of plants.entries()) {
    for (const plant of [...plants, { name: 'rose' }]) {
      const { data, response } = await create(id, plant)
      const what = `${JSON.stringify(plant)} where ${JSON.stringify(stored)} is`
      t.equal(response.status, plant === stored ? 200 : 409, what)
      if (plant === stored) t.strictSame(data, stored, what)
    }
  }
  t.strictSame(await list(), plants, 'nothing has changed')
})

t.test('50 simultaneous creates of one id create one plant', async (t) => {
  const { create, list } = await newCaller()
  const names = Array.from({ length: 50 }, (_, index) => `name ${index % 5}`)
  const answers = await Promise.all(names.map((name) => create(1, { name })))
  const [stored] = await list()
  t.strictSame(
    answers.map(({ response }) => response.status),
    names.map((name) => (name === stored?.name ? 200 : 409)),
  )
  t.strictSame(await list(), [stored])
})

t.test('the list is in ascending order of ids, and Link leads through all pages', async (t) => {
  const { create, list, next, ask } = await newCaller()
  const ids = [3n, -(2n ** 63n), 10n, -1n, 0n, 2n ** 63n - 1n, 9007199254740993n, 9007199254740992n, -20n]
  for (const id of ids) await create(id, { name: `${id}` })
  const sorted = ids.toSorted((a, b) => (a < b ? -1 : 1)).map((id) => ({ name: `${id}` }))
  t.strictSame(await list(), sorted)
  t.equal(await next({}), undefined)
  for (const limit of [1, 2, 3, 8, 9, 10, 2147483647]) {
    const found: unknown[] = []
    let pages = 0
    for (let query: string | undefined = `?limit=${limit}`; query !== undefined; pages += 1) {
      const { json, headers } = await ask('GET', `/plants${query}`)
      found.push(...(json as unknown[]))
      query = linked(headers['link'])
    }
    t.strictSame(found, sorted, `limit ${limit}`)
    t.equal(pages, Math.ceil(ids.length / limit), `pages of limit ${limit}`)
  }
})

t.test('a cursor works with and without limit, and after the last plant', async (t) => {
  const { create, list, next, ask } = await newCaller()
  for (const id of [1, 2, 3]) await create(id, { name: `${id}` })
  const [, cursor = ''] = /cursor=(.*)/.exec((await next({ limit: 1 })) ?? '') ?? []
  t.strictSame(await list({ cursor }), [{ name: '2' }, { name: '3' }], 'without limit')
  t.strictSame((await ask('GET', `/plants?cursor=${cursor}&limit=1&other=7`)).json, [{ name: '2' }], 'with limit')
  t.strictSame(await list({ cursor: 'f_________8' }), [], 'after the greatest id')
  const invalid = ['', 'x', `${cursor}A`, cursor.slice(1), `${cursor.slice(0, -1)}B`, `${cursor}&cursor=${cursor}`]
  for (const each of invalid) t.equal((await ask('GET', `/plants?cursor=${each}`)).status, 400, each)
})

t.test('a name has a character that is not white space, of whatever script', async (t) => {
  const { create } = await newCaller()
  const blank = Array.from(' \t\u001c\u0085\u00a0\u1680\u2003\u2028\u202f\u205f\u3000\ufeff')
  for (const each of [...blank, blank.join('')]) {
    const { error, response } = await create(7, { name: each })
    t.equal(response.status, 400, encodeURIComponent(each))
    t.match(error, { error: 400, message: /^body\/name / })
  }
  for (const name of ['é', '\u3000日本', '\u200b', '🌱 '])
    t.equal((await create(7, { name })).response.status, name === 'é' ? 200 : 409)
})
