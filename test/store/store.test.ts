// Tests that each kind of store keeps the promises of the Store interface.
import { mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type Page, type Plant, type Store } from '../../service/store/store.ts'
import { batchesOf, namesOf, parsed, read } from '../support/pages.ts'
import { startPostgres } from '../support/postgres.ts'
import { openStore } from '../../service/store/open.ts'
import { SNAPSHOT_IDLE_TIMEOUT } from '../../service/store/lists.ts'

const postgres = await startPostgres(t)

/** Opens a new store of each kind. `reopen` opens the same store again. */
const KINDS: Record<string, (t: Test) => Promise<{ store: Store; reopen: () => Promise<Store> }>> = {
  sqlite: async (t) => {
    const file = `${t.testdir()}/plants.db`
    return { store: await openStore({ file }), reopen: () => openStore({ file }) }
  },
  postgres: async () => {
    const url = await postgres.createDatabase()
    return { store: await openStore({ url }), reopen: () => openStore({ url }) }
  },
}

const MAX = 2n ** 63n - 1n
const MIN = -(2n ** 63n)

for (const [kind, open] of Object.entries(KINDS)) t.test(`a store of the kind ${kind}`, (t) => suite(t, open))

async function suite(t: Test, open: (typeof KINDS)[string]): Promise<void> {
  const { store, reopen } = await open(t)
  t.teardown(() => store.close())

  t.test('a create returns the plant that the owner now has under this id', async (t) => {
    const rose = { name: 'Rose', tag: 'garden' }
    t.strictSame(await store.create('create', 1n, rose), rose)
    t.strictSame(await store.create('create', 1n, rose), rose, 'repeated')
    t.strictSame(await store.create('create', 1n, { name: 'Tulip' }), rose, 'the id is taken')
    t.strictSame(await namesOf(store.list('create')), ['Rose'])
  })

  t.test('one of several simultaneous creates with the same id wins, and all return its plant', async (t) => {
    const all = await Promise.all(range(20).map((n) => store.create('race', 1n, { name: `plant ${n}` })))
    const [stored] = (await read(store.list('race'))).plants
    for (const plant of all) t.strictSame(plant, stored)
  })

  t.test('two owners can use the same id; no owner sees, pages or deletes the plants of another', async (t) => {
    for (const owner of ['joe', 'Joe', 'joe ', 'jöe', '']) await store.create(owner, 1n, { name: `of "${owner}"` })
    for (const owner of ['joe', 'Joe', 'joe ', 'jöe', '']) {
      t.strictSame(await read(store.list(owner, undefined, 1)), { plants: [{ name: `of "${owner}"` }] })
    }
    t.equal(await store.delete('joe', 1n), true)
    t.strictSame(await namesOf(store.list('Joe')), ['of "Joe"'])
  })

  t.test('a delete says whether there was a plant, and frees the id', async (t) => {
    t.equal(await store.delete('delete', 1n), false)
    await store.create('delete', 1n, { name: 'a' })
    t.strictSame((await Promise.all([1, 2].map(() => store.delete('delete', 1n)))).sort(), [false, true])
    t.strictSame(await store.create('delete', 1n, { name: 'b' }), { name: 'b' })
  })

  t.test('a plant is found and updated by its id, if it exists', async (t) => {
    t.equal(await store.find('update', MAX), undefined)
    t.equal(await store.update('update', MAX, { name: 'a' }), false)
    t.equal(await store.find('update', MAX), undefined, 'an update creates nothing')
    await store.create('update', MAX, { name: 'a', tag: 'old' })
    await store.create('update', MAX - 1n, { name: 'b' })
    t.strictSame(await store.find('update', MAX), { name: 'a', tag: 'old' })
    t.equal(await store.update('update', MAX, { name: 'c' }), true)
    t.strictSame(await store.find('update', MAX), { name: 'c' }, 'the whole plant')
    t.strictSame(await namesOf(store.list('update')), ['b', 'c'])
    t.equal(await store.find('other', MAX), undefined)
    t.equal(await store.update('other', MAX, { name: 'd' }), false)
    t.strictSame(await store.find('update', MAX), { name: 'c' })
    const race = [store.delete('update', MAX), store.update('update', MAX, { name: 'e' })]
    t.strictSame(await Promise.all(race), [true, false], 'a deleted plant stays deleted')
  })

  t.test('a list has all plants that were written before it, even right after another list', async (t) => {
    for (const [write, names] of [
      [() => store.create('writes', 1n, { name: 'a' }), ['a']],
      [() => store.update('writes', 1n, { name: 'b' }), ['b']],
      [() => store.delete('writes', 1n), []],
    ] as const) {
      await namesOf(store.list('writes'))
      await write()
      t.strictSame(await namesOf(store.list('writes')), names)
    }
  })

  t.test('ids are exact in the whole range of int64, and in ascending order', async (t) => {
    const ids = [0n, MAX, MIN, -1n, 2n ** 53n, 2n ** 53n + 1n, MAX - 1n, MIN + 1n, -(2n ** 53n) - 1n, -(2n ** 53n)]
    for (const id of ids) await store.create('int64', id, { name: String(id) })
    const sorted = ids.toSorted((a, b) => (a < b ? -1 : 1))
    t.strictSame(await namesOf(store.list('int64')), sorted.map(String))
    for (const [index, id] of sorted.entries()) {
      const page = await store.list('int64', id, 1)
      const rest = sorted.slice(index + 1)
      t.strictSame(
        (await read(page)).plants,
        rest.slice(0, 1).map((id) => ({ name: String(id) })),
        `after ${id}`,
      )
      t.equal(page.last, rest.length > 1 ? rest[0] : undefined, `after ${id}`)
    }
    for (const id of ids) t.equal(await store.delete('int64', id), true)
  })

  t.test('texts are stored exactly, and a missing tag differs from an empty tag', async (t) => {
    const texts = [
      ' a ',
      'é e\u0301 \u212B Å', // no Unicode normalization
      '👩‍🌾🏽 🌵 \u{10FFFF} \uFFFF \uFFFD \uFEFF',
      '\u202Eright to left\u202C שלום',
      '"\\\'`;--%_$1?\u0001\u001F\u007F\u0085\u2028\r\n\t',
      '植'.repeat(255),
      '🌵'.repeat(255),
      '1e400',
      'null',
    ]
    const plants: Plant[] = texts.flatMap((name) => [{ name }, { name, tag: '' }, { name, tag: name }])
    for (const [id, plant] of plants.entries()) {
      t.strictSame(await store.create('text', BigInt(id), plant), plant)
      t.strictSame(await store.create('text', BigInt(id), { name: 'x' }), plant, 'as it was stored')
    }
    t.strictSame((await read(store.list('text'))).plants, plants)
  })

  t.test('a page has its last id only if there are more plants after it', async (t) => {
    t.strictSame(await read(store.list('nobody')), { plants: [] })
    t.strictSame(await read(store.list('nobody', 5n, 5)), { plants: [] })
    await Promise.all([10, 20, 30].map((id) => store.create('page', BigInt(id), { name: `${id}` })))
    const pages: [after: bigint | undefined, limit: number | undefined, names: string[], last?: bigint][] = [
      [undefined, undefined, ['10', '20', '30']],
      [undefined, 1, ['10'], 10n],
      [undefined, 2, ['10', '20'], 20n],
      [undefined, 3, ['10', '20', '30']],
      [undefined, 4, ['10', '20', '30']],
      [undefined, 2 ** 31 - 1, ['10', '20', '30']],
      [10n, 1, ['20'], 20n],
      [15n, 2, ['20', '30']],
      [MIN, 1, ['10'], 10n],
      [20n, undefined, ['30']],
      [30n, 1, []],
      [MAX, undefined, []],
    ]
    for (const [after, limit, expected, last] of pages) {
      const page = await store.list('page', after, limit)
      t.strictSame({ names: await namesOf(page), last: page.last }, { names: expected, last }, `${after} ${limit}`)
    }
  })

  const many = range(1600).map((n) => n * 3)
  // Too many bytes to read without batches.
  const tag = '🌱'.repeat(255)
  const fill = Promise.all(many.map((id) => store.create('many', BigInt(id), { name: String(id), tag })))

  t.test('pages of any length together give the whole list', async (t) => {
    await fill
    for (const limit of [499, 500, 501, 999, 1000, 1001, 1599, 1600, 1601, undefined]) {
      const seen: string[] = []
      for (let page: Page, after: bigint | undefined, pages = 0; pages < 9; pages++, after = page.last) {
        page = await store.list('many', after, limit)
        seen.push(...(await namesOf(page)))
        if (page.last === undefined) break
        t.equal(seen.length, (pages + 1) * (limit ?? NaN), 'full pages')
        t.equal(String(page.last), seen.at(-1))
      }
      t.strictSame(seen, many.map(String), `limit ${limit}`)
    }
  })

  for (const limit of [undefined, 1000]) {
    t.test(`a long list shows one moment, also while others write; limit ${limit}`, async (t) => {
      const page = await store.list('many', undefined, limit)
      await store.create('many', -1n, { name: 'before it' })
      await store.delete('many', 0n)
      const seen: string[] = []
      for await (const batch of batchesOf(page)) {
        seen.push(...parsed(batch).map(({ name }) => name))
        await store.create('many', 1_000_000n, { name: 'after it' })
        await store.delete('many', 900n)
      }
      const expected = many.map(String).slice(0, limit)
      t.strictSame(seen, expected)
      t.notOk((await namesOf(store.list('many'))).includes('900'))
      for (const id of [-1n, 1_000_000n]) await store.delete('many', id)
      for (const id of [0n, 900n]) await store.create('many', id, { name: String(id), tag })
    })
  }

  t.test('the batches of a long list are short, also if its plants are long', async (t) => {
    const lengths: number[] = []
    for await (const { text } of batchesOf(await store.list('many'))) lengths.push(text.length)
    t.ok(Math.max(...lengths) < 80_000, `the longest of ${lengths.length} has ${Math.max(...lengths)} characters`)
    t.ok(lengths.length < 30, 'they are not too short')
  })

  t.test('long lists that nobody reads to the end release their snapshots', async (t) => {
    for (let round = 0; round < 40; round++) {
      const iterator = batchesOf(await store.list('many'))[Symbol.asyncIterator]()
      if (round % 2 === 0) await iterator.next()
      await iterator.return?.()
    }
    t.equal((await namesOf(store.list('many'))).length, 1600)
  })

  t.test(
    'at most 16 long lists run at the same time, 8 of one owner; more wait until a list ends, or are refused',
    async (t) => {
      const owners = ['many', 'many 2', 'many 3']
      for (const owner of owners) {
        await Promise.all(many.slice(0, 1000).map((id) => store.create(owner, BigInt(id), { name: String(id), tag })))
      }
      const begin = async (owner: string) => batchesOf(await store.list(owner))[Symbol.asyncIterator]()
      const refused = { name: 'StoreUnavailable', message: 'too many long lists at once' }
      // Begin them one by one: on a busy machine some would wait too long for the others.
      const lists = []
      for (let count = 0; count < 8; count++) lists.push(await begin('many'))
      const ninth = t.rejects(begin('many'), refused, 'one owner has 8')
      for (let count = 0; count < 8; count++) lists.push(await begin('many 2'))
      await Promise.all([ninth, t.rejects(begin('many 3'), refused, 'there are 16')])
      t.equal((await namesOf(store.list('many', undefined, 500))).length, 500, 'short lists are not refused')
      const waiting = begin('many 3')
      await lists.pop()?.return?.()
      lists.push(await waiting)
      for (const each of lists) await each.return?.()
      t.equal((await namesOf(store.list('many'))).length, 1600, 'then another long list can start')
    },
  )

  const requests: Record<string, () => Promise<unknown>> = {
    list: () => store.list('other', undefined, 1),
    find: () => store.find('other', 1n),
    create: () => store.create('other', 1n, { name: 'a' }),
    update: () => store.update('other', 1n, { name: 'b' }),
    delete: () => store.delete('other', 1n),
  }
  for (const [kind, request] of Object.entries(requests)) {
    t.test(`a long list pauses after a request of another owner: ${kind}`, async (t) => {
      await request() // what a list needs is now in the cache
      const batches = batchesOf(await store.list('many'))[Symbol.asyncIterator]()
      for (let batch = 0; batch < 2; batch++) await batches.next()
      await nextTurn()
      mock.timers.enable({ apis: ['setTimeout'] })
      t.teardown(() => mock.timers.reset())
      await request()
      await batches.next()
      let [isPause, pings] = [true, 0]
      const next = batches.next().finally(() => {
        isPause = false
      })
      for (; isPause && pings < 20; pings++) {
        await store.ping()
        await nextTurn()
      }
      t.equal(pings, 20, 'the next batch does not come while the clock stands')
      while (isPause) {
        mock.timers.tick(1)
        await store.ping() // takes real time: else the clock would pass the time limits of the connection
        await nextTurn()
      }
      t.equal((await next).done, false)
      await batches.return?.()
    })
  }

  t.test('a long list ends after SNAPSHOT_IDLE_TIMEOUT if nobody reads on', async (t) => {
    const batches = batchesOf(await store.list('many'))[Symbol.asyncIterator]()
    await namesOf(store.list('many')) // the pause after these two requests is then over
    await batches.next()
    mock.timers.enable({ apis: ['setTimeout'] })
    t.teardown(() => mock.timers.reset())
    const second = await batches.next()
    t.equal(second.done, false)
    mock.timers.tick(SNAPSHOT_IDLE_TIMEOUT - 1)
    t.equal((await batches.next()).done, false, 'not before')
    mock.timers.tick(SNAPSHOT_IDLE_TIMEOUT)
    await t.rejects(batches.next(), { name: 'StoreUnavailable', message: 'the list was read too slowly' })
  })

  t.test('access tokens are added, found, listed and deleted', async (t) => {
    const digest = (n: number) => new Uint8Array(32).fill(n)
    const old = { id: 'old', caller: 'joe', created: new Date(1), expires: new Date(2), digest: digest(1), scopes: [] }
    const tokens = [
      { id: 'b', caller: 'jöe', created: new Date(5e12), digest: digest(0), scopes: ['plants:read', 'b'] },
      old,
      { id: 'a', caller: 'x', created: new Date(3), digest: digest(2), scopes: ['x'] },
    ]
    t.equal(await store.findToken(digest(0)), undefined)
    for (const token of tokens) await store.addToken(token)
    for (const token of tokens) t.strictSame(await store.findToken(token.digest), token, 'expired or not')
    t.equal(await store.findToken(digest(9)), undefined)
    t.strictSame(
      (await store.listTokens()).map(({ id }) => id),
      ['old', 'a', 'b'],
    )
    t.strictSame((await store.listTokens())[0], old)
    t.equal(await store.deleteToken('old'), true)
    t.equal(await store.deleteToken('old'), false)
    t.equal(await store.findToken(digest(1)), undefined)
  })

  t.test('a write that fails does not affect the writes that arrive with it', async (t) => {
    const token = { id: 'twice', caller: 'joe', created: new Date(1), digest: new Uint8Array(32).fill(100), scopes: [] }
    await store.addToken(token)
    const [before, failing, after] = await Promise.allSettled([
      store.create('batch', 1n, { name: 'before' }),
      store.addToken({ ...token, digest: new Uint8Array(32).fill(101) }),
      store.create('batch', 2n, { name: 'after' }),
    ])
    t.strictSame([before.status, failing.status, after.status], ['fulfilled', 'rejected', 'fulfilled'])
    t.strictSame(await namesOf(store.list('batch')), ['before', 'after'])
  })

  t.test('close finishes all writes, and they are there when the store opens again', async (t) => {
    const begun = range(50).map((id) => store.create('close', BigInt(id), { name: String(id) }))
    await store.close()
    t.equal((await Promise.all(begun)).length, 50)
    const again = await reopen()
    t.strictSame(await namesOf(again.list('close')), range(50).map(String))
    t.equal((await again.listTokens()).length, 3)
    await again.close()
    for (const late of [
      () => store.create('closed', 1n, { name: 'x' }),
      () => store.list('close'),
      () => store.delete('close', 1n),
    ]) {
      await t.rejects<unknown>(late, { name: 'StoreUnavailable' }, 'and a closed one is away')
    }
    store.close = async () => undefined
  })

  t.test('a store is empty until it has a plant or a token', async (t) => {
    const { store } = await open(t)
    t.teardown(() => store.close())
    t.equal(await store.isEmpty(), true)
    await store.create('joe', 1n, { name: 'a' })
    t.equal(await store.isEmpty(), false)
    await store.delete('joe', 1n)
    t.equal(await store.isEmpty(), true)
    const digest = new Uint8Array(32)
    await store.addToken({ id: 'a', caller: 'joe', created: new Date(), expires: new Date(0), digest, scopes: [] })
    t.equal(await store.isEmpty(), false)
  })
}

function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index)
}
