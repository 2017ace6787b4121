import fc from 'fast-check'
import t from 'tap'
import { product } from '../service/product.ts'
import { contractOf } from './support/inner/documented.ts'
import { brief, fields, parse, stringify } from './support/inner/json.ts'
import { build } from './support/servers/start-product.ts'
import { arbitraryOf, isCursor } from './support/inner/inputs.ts'

const { call, token } = await build(t, {}, product)
let callers = 0

/** Makes a caller without plants. @returns functions that call the operations as this caller */
async function newCaller() {
  const secret = await token(`caller${(callers += 1)}`)
  const ask = (query = '') => call({ path: `/plants${query}`, token: secret })
  return {
    create: (id: unknown, plant: object) =>
      call({ method: 'POST', path: '/plants', token: secret, body: { id, ...plant } }),
    ask,
    list: async (query?: string) => (await ask(query)).json,
    /** The target of the Link of a list, relative to the request. */
    next: async (query?: string) =>
      /^<(\?[^>]+)>; rel="next"$/.exec(String((await ask(query)).headers['link']))?.[1],
    remove: async (id: number | string) =>
      (await call({ method: 'DELETE', path: `/plants/${id}`, token: secret })).status,
  }
}

t.test(
  'a create can be repeated, with other content it is 409 and changes nothing, a delete is done once',
  async (t) => {
    const { create, list, remove } = await newCaller()
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
    for (const status of [204, 404]) t.equal(await remove(1), status)
    t.strictSame(await list(), [plants[0], plants[2]], 'it is not listed any more')
  },
)

t.test(
  'the list is in ascending order of ids, Link leads through all pages, and any cursor works',
  async (t) => {
    const { create, list, next, ask } = await newCaller()
    const ids = [
      3n,
      -(2n ** 63n),
      10n,
      -1n,
      0n,
      2n ** 63n - 1n,
      9007199254740993n,
      9007199254740992n,
      -20n,
    ]
    for (const id of ids) await create(id, { name: `${id}` })
    const sorted = ids.toSorted((a, b) => (a < b ? -1 : 1)).map((id) => ({ name: `${id}` }))
    t.strictSame(await list(), sorted)
    t.equal(await next(), undefined)
    for (const limit of [1, 2, 3, 8, 9, 10, 2147483647]) {
      const answered: unknown[] = []
      let pages = 0
      for (
        let query: string | undefined = `?limit=${limit}`;
        query !== undefined;
        query = await next(query)
      ) {
        answered.push(...((await list(query)) as unknown[]))
        pages += 1
      }
      t.strictSame(answered, sorted, `limit ${limit}`)
      t.equal(pages, Math.ceil(ids.length / limit), `pages of limit ${limit}`)
    }

    const [, cursor = ''] = /cursor=(.*)/.exec((await next('?limit=1')) ?? '') ?? []
    t.strictSame(await list(`?cursor=${cursor}`), sorted.slice(1), 'without limit')
    t.strictSame(await list(`?cursor=${cursor}&limit=1&other=7`), [sorted[1]], 'with limit')
    t.strictSame(await list('?cursor=f_________8'), [], 'after the greatest id')
    const { operations } = await contractOf(product)
    const parameters = operations.flatMap((operation) => operation.parameters)
    for (const { schema } of parameters.filter(isCursor))
      for (const sample of fc.sample(arbitraryOf(schema), 200).map(String))
        t.equal(
          (await ask(`?cursor=${sample}`)).status,
          200,
          `${sample}, which the contract allows`,
        )
  },
)

// By hand: the tests from the contract would follow a contract that somebody loosened.
t.test('a plant is as the design has it, and is stored and answered to the letter', async (t) => {
  const texts = [
    ' x ',
    '\tx\n',
    'e\u0301',
    '\u00e9',
    '\ufb01',
    '\u3000日本',
    '\u200b',
    '"\\/\b\f',
    '\u007f\u0001',
  ]
  const longest = ['x'.repeat(255), '🌱'.repeat(255), '\ufeff\u{10ffff}\u202e\u2028\uffff']
  const noTexts = ['x'.repeat(256), '🌱'.repeat(256), 'a\0b', '\ud83c', 7, true, null, ['x'], {}]
  const spaces = Array.from('\u001c\u001f\u0085\u00a0\u1680\u2003\u2028\u202f\u3000\ufeff')
  const blank = ['', ' \t\n', ' \u0085\u3000', ...spaces]
  const ids = [-(2n ** 63n), 9007199254740993n, 2n ** 63n - 1n]
  const members: [name: string, valid: unknown[], invalid: unknown[]][] = [
    ['id', ids, [-(2n ** 63n) - 1n, 2n ** 63n, 1.5, '7', null, undefined]],
    ['name', [...texts, ...longest], [...noTexts, ...blank, undefined]],
    ['tag', [...texts, ...longest, undefined, ''], noTexts],
    ['other', [], [1, null]],
  ]
  for (const [member, valid, invalid] of members) {
    const { create, list } = await newCaller()
    const plants: unknown[] = []
    for (const value of [...valid, ...invalid]) {
      const { id, ...plant } = { id: plants.length, name: 'x', [member]: value }
      const { json, status } = await create(id, plant)
      t.equal(status, valid.includes(value) ? 200 : 400, `${member} ${encodeURI(brief([value]))}`)
      if (status === 200) plants.push(json)
      t.strictSame(
        json,
        status === 200 ? parse(stringify(plant)) : { error: 400, message: fields(json)['message'] },
      )
    }
    t.strictSame(await list(), plants)
  }
})

t.test('limit, cursor and id are as the design has them', async (t) => {
  const { ask, remove } = await newCaller()
  for (const text of ['1', '2147483647']) t.equal((await ask(`?limit=${text}`)).status, 200, text)
  const noLimits = '0,-1,0x10,1e1,1.0,+5,05,%2010,,2147483648,1_000,1&limit=1,1&%6Cimit=1'
  for (const text of noLimits.split(',')) t.equal((await ask(`?limit=${text}`)).status, 400, text)
  for (const text of ['x=1', 'Limit=0', '__proto__=1', 'x=1&x=2'])
    t.equal((await ask(`?${text}`)).status, 200, text)
  for (const text of ['0', '-7', '9223372036854775807']) t.equal(await remove(text), 404, text)
  const noIds = '01,+1,1.0,0x10,-0,%201,1e2,a,1%00,9223372036854775808,-9223372036854775809'
  for (const text of noIds.split(',')) t.equal(await remove(text), 400, text)
})
