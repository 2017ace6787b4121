// Indexes and cursors lead an owner to their own items only, on each engine. Any cursor is 400, or gives a page of the list.
import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import t from 'tap'
import { HttpError } from '@plant-store/engine/for-store'
import { mutated } from '../../../test/fuzz/mutated.ts'
import { type Database, openLibrary } from '../../../test/support/library/stock.ts'
import { brought, openDatabases } from '../../../test/support/postgres/server.ts'
import { read } from '../../../test/support/stores/read-page.ts'
import { range } from '../../../test/support/stores/store-engines.ts'

const numRuns = process.env['LONG'] === undefined ? 150 : 20_000
const OWNERS = { ann: '978', ben: '979' } as const
type Owner = keyof typeof OWNERS

/** The orders in which loans are listed. */
const ORDERS = [
  {},
  { descending: true },
  { index: 'member', equals: ['moss'] },
  { index: 'member', equals: ['fern'], descending: true },
  { index: 'member', equals: ['moss'], from: '2031-01-03' },
  { index: 'member' },
  { index: 'due' },
  { index: 'due', to: '2031-01-09', descending: true },
] as const

/** Pieces of cursors, and bytes that are no UTF-8. */
const WORDS = ['[', ']', '"', ',', '\\u0000', '0', 'moss', '\xff', '\0'].map((word) =>
  Buffer.from(word, 'latin1'),
)

const postgres = await openDatabases(t)
const DATABASES: Record<string, Database> = {
  ...(brought() === undefined && { sqlite: { file: `${t.testdir()}/library.db` } }),
  postgres: { url: await postgres.createDatabase() },
}

for (const [name, database] of Object.entries(DATABASES))
  t.test(`owners on ${name}`, async (t) => {
    const { loans, members, store } = await openLibrary(database)
    t.teardown(() => store.close())
    for (const [owner, prefix] of Object.entries(OWNERS)) {
      const create = (place: number) => {
        const member = place % 3 === 0 ? 'fern' : 'moss'
        const due = `2031-01-${String(1 + (place % 12)).padStart(2, '0')}`
        return loans.create(owner, `loan ${place}`, {
          isbn: `${prefix}${String(place).padStart(10, '0')}`,
          member,
          due,
        })
      }
      await Promise.all(range(40).map(create))
      await members.create(owner, `${owner}'s`, { name: owner, email: 'moss@example.com', open: 0 })
    }

    t.test('the same values of two owners: each sees their own, by each index', async (t) => {
      for (const [owner, prefix] of Object.entries(OWNERS)) {
        const email = { index: 'email', equals: ['moss@example.com'] } as const
        t.match(await members.find(owner, email), { key: `${owner}'s`, item: { name: owner } })
        for (const order of ORDERS) {
          const { items } = await read(loans.list(owner, order))
          t.ok(items.length > 5)
          t.ok(
            items.every(({ isbn }) => isbn.startsWith(prefix)),
            owner,
          )
          t.equal(await loans.count(owner, { ...order, most: 1000 }), items.length)
          const entries = await Array.fromAsync(loans.entries(owner, order))
          t.strictSame(
            entries.map(({ item }) => item),
            items,
          )
        }
      }
      t.strictSame((await read(loans.list('cid', { index: 'due' }))).items, [])
      t.equal(await loans.count('cid', { index: 'due', most: 10 }), 0)
    })

    t.test('a cursor is 400, or gives a page of its list', { timeout: 0 }, async (t) => {
      const owners = Object.keys(OWNERS)
      const lists = new Map<string, readonly string[]>()
      const links: Link[] = []
      for (const owner of owners)
        for (const [order, asked] of ORDERS.entries()) {
          const { items } = await read(loans.list(owner, asked))
          lists.set(`${owner} ${order}`, isbnsOf(items))
          for (const limit of [1, 2, 7]) {
            const { next = '' } = await loans.list(owner, { ...asked, limit })
            links.push({ cursor: next, order })
          }
        }
      /** The ISBNs of a page; 400 for a cursor of another list. */
      const ask = async (owner: Owner, order: number, cursor: string) => {
        try {
          const asked = ORDERS[order] ?? {}
          return isbnsOf((await read(loans.list(owner, { ...asked, limit: 5, cursor }))).items)
        } catch (error) {
          if (error instanceof HttpError && error.statusCode === 400) return 400
          throw error
        }
      }
      let pages = 0
      const check = async (owner: Owner, order: number, { cursor, order: from }: Link) => {
        const answer = await ask(owner, order, cursor)
        if (from === order) assert.notEqual(answer, 400)
        // A cursor by ascending key is the key itself, and any string may be one.
        else if (from !== undefined && order !== 0) assert.equal(answer, 400)
        if (answer === 400) return
        pages += 1
        const list = lists.get(`${owner} ${order}`) ?? []
        const [first = ''] = answer
        const start = first === '' ? list.length : list.indexOf(first)
        assert.deepEqual(answer, list.slice(start, start + 5))
      }
      const link = fc.constantFrom(...links)
      const bytes = link.map(({ cursor }) => Buffer.from(cursor, 'base64url'))
      const strange = fc.oneof(
        mutated(bytes, WORDS).map((changed) => changed.toString('base64url')),
        fc.uint8Array({ maxLength: 60 }).map((random) => Buffer.from(random).toString('base64url')),
        fc.string({ maxLength: 40 }),
      )
      const from = fc.oneof(
        link,
        strange.map((cursor): Link => ({ cursor, order: undefined })),
      )
      const owner = fc.constantFrom<Owner>('ann', 'ben')
      const property = fc.asyncProperty(owner, fc.nat(ORDERS.length - 1), from, check)
      const examples = links.map((of): [Owner, number, Link] => ['ann', of.order ?? 0, of])
      await fc.assert(property, { numRuns, examples })
      t.ok(pages > links.length / 2)
    })
  })

/** A cursor, and the place of its order; undefined for a cursor that no list gave. */
interface Link {
  readonly cursor: string
  readonly order: number | undefined
}

function isbnsOf(loans: readonly { readonly isbn: string }[]): string[] {
  return loans.map(({ isbn }) => isbn)
}
