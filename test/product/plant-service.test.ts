import t from 'tap'
import type { components } from '../../service/contract.gen.ts'
import { product } from '../../service/product.ts'
import { build } from '../support/helper.ts'

type Plant = components['schemas']['Plant']

const { call, token } = await build(t, {}, product)
let callers = 0

/** Makes a caller without plants. @returns functions that call the operations as this caller */
async function newCaller() {
  const secret = await token(`caller${(callers += 1)}`)
  const list = (query = '') => call({ path: `/plants${query}`, token: secret })
  return {
    create: (id: number | bigint, plant: Plant) =>
      call({ method: 'POST', path: '/plants', token: secret, body: { id, ...plant } }),
    ask: list,
    list: async (query?: string) => (await list(query)).json,
    /** Follows the Link of a list. */
    next: async (query?: string) => linked((await list(query)).headers['link']),
    remove: async (id: number) => (await call({ method: 'DELETE', path: `/plants/${id}`, token: secret })).status,
  }
}

/** The target of a Link header, relative to the request. */
function linked(link: unknown): string | undefined {
  return /^<(\?[^>]+)>; rel="next"$/.exec(String(link))?.[1]
}

t.test('a plant is created, listed and deleted once', async (t) => {
  const { create, list, remove } = await newCaller()
  const { json, status } = await create(7, { name: 'Rose', tag: 'garden' })
  t.equal(status, 200, 'it is created')
  t.strictSame(json, { name: 'Rose', tag: 'garden' }, 'it is answered')
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
      const { json, status } = await create(id, plant)
      const what = `${JSON.stringify(plant)} where ${JSON.stringify(stored)} is`
      t.equal(status, plant === stored ? 200 : 409, what)
      if (plant === stored) t.strictSame(json, stored, what)
    }
  }
  t.strictSame(await list(), plants, 'nothing has changed')
})

t.test('50 simultaneous creates of one id create one plant', async (t) => {
  const { create, list } = await newCaller()
  const names = Array.from({ length: 50 }, (_, index) => `name ${index % 5}`)
  const answers = await Promise.all(names.map((name) => create(1, { name })))
  const [stored] = (await list()) as Plant[] // as the contract says
  t.strictSame(
    answers.map(({ status }) => status),
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
  t.equal(await next(), undefined)
  for (const limit of [1, 2, 3, 8, 9, 10, 2147483647]) {
    const found: unknown[] = []
    let pages = 0
    for (let query: string | undefined = `?limit=${limit}`; query !== undefined; pages += 1) {
      const { json, headers } = await ask(query)
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
  const [, cursor = ''] = /cursor=(.*)/.exec((await next('?limit=1')) ?? '') ?? []
  t.strictSame(await list(`?cursor=${cursor}`), [{ name: '2' }, { name: '3' }], 'without limit')
  t.strictSame(await list(`?cursor=${cursor}&limit=1&other=7`), [{ name: '2' }], 'with limit')
  t.strictSame(await list('?cursor=f_________8'), [], 'after the greatest id')
  const invalid = ['', 'x', `${cursor}A`, cursor.slice(1), `${cursor.slice(0, -1)}B`, `${cursor}&cursor=${cursor}`]
  for (const each of invalid) t.equal((await ask(`?cursor=${each}`)).status, 400, each)
})

t.test('a name has a character that is not white space, of whatever script', async (t) => {
  const { create } = await newCaller()
  const blank = Array.from(' \t\u001c\u0085\u00a0\u1680\u2003\u2028\u202f\u205f\u3000\ufeff')
  for (const each of [...blank, blank.join('')]) {
    const { json, status } = await create(7, { name: each })
    t.equal(status, 400, encodeURIComponent(each))
    t.match(json, { error: 400, message: /^body\/name / })
  }
  for (const name of ['é', '\u3000日本', '\u200b', '🌱 '])
    t.equal((await create(7, { name })).status, name === 'é' ? 200 : 409)
})
