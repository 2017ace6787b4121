// Runs random histories of a collection with indexes on a model in memory and on each engine. All
// must give the same answers. LONG=1 runs many; HISTORIES=<number> runs this many; SEED=<number>
// repeats a run.
import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { change, type Collection, NotUnique, readConfig, removed, write } from '@plant-store/engine'
import { exactJson, type StoreOptions, type StoredIndex } from '@plant-store/engine/for-store'
import { openDatabase } from '../src/open.ts'
import { brought, openDatabases } from '../../../test/support/postgres/server.ts'
import { parse } from '../../../test/support/inner/json.ts'
import { textOf } from '../../../test/support/stores/read-page.ts'

interface Member {
  readonly email: string | null
  readonly group: string
  readonly born: number
}
type Members = Collection<
  Member,
  string,
  { email: { on: ['email']; unique: true }; group: ['group', 'born'] }
>
const INDEXES: readonly StoredIndex[] = [
  { name: 'email', isUnique: true, properties: [{ path: ['email'], type: 'string' }] },
  {
    name: 'group',
    isUnique: false,
    properties: [
      { path: ['group'], type: 'string' },
      { path: ['born'], type: 'number' },
    ],
  },
]
const NOT_UNIQUE = 'not unique'

interface Write {
  readonly kind: 'create' | 'update' | 'delete'
  readonly key: string
  readonly member: Member
}

/** A change of two members. A new item, `removed` to delete the member, or undefined to leave it. */
interface Change {
  readonly kind: 'change'
  readonly keys: readonly string[]
  readonly to: readonly (Member | typeof removed | undefined)[]
}

/** A list and a count of a group, and the member of an e-mail. */
interface Read {
  readonly kind: 'read'
  readonly group: string
  readonly from: number | undefined
  readonly to: number | undefined
  readonly descending: boolean
  readonly limit: number
  readonly email: string
}

type Call = (Write | Change | Read) & { readonly owner: string }

/** The members of each owner, by their keys. */
class Model {
  readonly #owners = new Map<string, Map<string, Member>>()

  answer(call: Call): unknown {
    const members = this.#owners.get(call.owner) ?? new Map<string, Member>()
    if (call.kind === 'read') return readOf(members, call)
    if (call.kind === 'change') return this.#write(call.owner, members, changesOf(call))
    const { kind, key, member } = call
    const stored = members.get(key)
    if (kind === 'delete') {
      this.#write(call.owner, members, [[key, removed]])
      return stored !== undefined
    }
    const isDone = kind === 'create' ? stored === undefined : stored !== undefined
    if (!isDone) return stored
    return this.#write(call.owner, members, [[key, member]]) ?? member
  }

  /** @returns undefined, or why nothing is written */
  #write(
    owner: string,
    members: ReadonlyMap<string, Member>,
    changes: readonly (readonly [key: string, to: Member | typeof removed])[],
  ): unknown {
    const next = new Map(members)
    for (const [key, to] of changes) {
      if (isMember(to)) next.set(key, to)
      else next.delete(key)
    }
    const emails = [...next.values()].flatMap(({ email }) => email ?? [])
    if (new Set(emails).size < emails.length) return NOT_UNIQUE
    this.#owners.set(owner, next)
    return undefined
  }
}

function isMember(to: Member | typeof removed): to is Member {
  return to !== removed
}

/** The written members of a change. */
function changesOf({ keys, to }: Change): (readonly [string, Member | typeof removed])[] {
  return keys.flatMap((key, at) => {
    const item = to[at]
    return item === undefined ? [] : [[key, item] as const]
  })
}

function readOf(members: ReadonlyMap<string, Member>, read: Read): unknown {
  const { group, from = -Infinity, to = Infinity, descending, limit, email } = read
  const isInRange = (member: Member) =>
    member.group === group && member.born >= from && member.born < to
  const rows = [...members].filter(([, member]) => isInRange(member))
  rows.sort(([key, member], [key2, two]) => member.born - two.born || (key < key2 ? -1 : 1))
  if (descending) rows.reverse()
  const [owning] = [...members].filter(([, member]) => member.email === email)
  return {
    listed: rows.map(([, member]) => member),
    keys: rows.map(([key]) => key),
    count: Math.min(rows.length, limit),
    byEmail: owning && { key: owning[0], item: owning[1] },
  }
}

/** Sends a request to a store. @param prefix of the owners' names: each history has new owners */
async function ask(members: Members, prefix: string, call: Call): Promise<unknown> {
  const owner = prefix + call.owner
  if (call.kind === 'read') return askRead(members, owner, call)
  try {
    if (call.kind === 'change') return await askChange(members, owner, call)
    const { kind, key, member } = call
    if (kind === 'create') return await members.create(owner, key, member)
    if (kind === 'update') return await members.update(owner, key, () => member)
    return await members.delete(owner, key)
  } catch (error) {
    if (error instanceof NotUnique && error.index === 'email') return NOT_UNIQUE
    throw error
  }
}

function askChange(members: Members, owner: string, call: Change): Promise<unknown> {
  const items = Object.fromEntries(call.keys.map((key) => [key, members.at(key)]))
  return change(owner, items, () => write(Object.fromEntries(changesOf(call)), undefined))
}

/** Lists page by page, as entries, and counts. */
async function askRead(members: Members, owner: string, read: Read): Promise<unknown> {
  const { group, from, to, descending, limit, email } = read
  const range = { index: 'group', equals: [group], from, to, descending } as const
  const listed: Member[] = []
  let cursor: string | undefined
  do {
    const page = await members.list(owner, { ...range, limit, cursor })
    listed.push(...(parse(textOf(page).text) as Member[])) // as they were written
    cursor = page.next
  } while (cursor !== undefined)
  const entries = await Array.fromAsync(members.entries(owner, range))
  return {
    listed,
    keys: entries.map(({ key }) => key),
    count: await members.count(owner, { ...range, most: limit }),
    byEmail: await members.find(owner, { index: 'email', equals: [email] }),
  }
}

const owner = fc.constantFrom('ann', 'ben')
const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h')
const email = fc.constantFrom('', 'x', 'X', 'é', '🌵', 'xx', 'x ')
const group = fc.constantFrom('', 'moss')
const born = fc.constantFrom(-0.5, 0, 1, 1.5)
const member: fc.Arbitrary<Member> = fc.record(
  { email: fc.option(email, { freq: 6 }), group, born },
  { noNullPrototype: true },
)
const kind = fc.constantFrom('create', 'create', 'create', 'update', 'delete')
const future = fc.oneof(member, fc.constantFrom(removed, undefined))
const bound = fc.option(born, { nil: undefined, freq: 2 })
const call: fc.Arbitrary<Call> = fc.oneof(
  fc.record({ owner, kind, key, member }),
  fc.record({
    owner,
    kind: fc.constant('change' as const),
    keys: fc.uniqueArray(key, { minLength: 2, maxLength: 2 }),
    to: fc.tuple(future, future),
  }),
  fc.record({
    owner,
    kind: fc.constant('read' as const),
    group,
    from: bound,
    to: bound,
    descending: fc.boolean(),
    limit: fc.integer({ min: 1, max: 4 }),
    email,
  }),
)

const { HISTORIES, SEED } = process.env
const usual = process.env['LONG'] === undefined ? 10 : 1000
const numRuns = Number(HISTORIES ?? usual)
t.setTimeout(numRuns * 20_000)
const databases = await openDatabases(t)

async function open(t: Test, database: StoreOptions['database']): Promise<Members> {
  const settings = readConfig('', { DATABASE_TIMEOUT: '60' }) // a busy machine takes longer
  const collections = { members: { key: 'text', readIndexes: async () => INDEXES } } as const
  const store = await openDatabase({ database, collections, isExclusive: true, settings })
  t.teardown(() => store.close())
  const members: Members = store.collection('members', {
    parse: (text) => parse(text) as Member, // as it was written
    write: exactJson,
  })
  return members
}

t.test('random histories have the same answers on all engines as in memory', async (t) => {
  const stores = [await open(t, { url: await databases.createDatabase() })]
  if (brought() === undefined) stores.push(await open(t, { file: `${t.testdir()}/members.db` }))
  const seed = Number(SEED ?? Date.now() % 2 ** 31)
  t.comment(`SEED=${seed}`)
  let histories = 0
  const property = fc.asyncProperty(
    fc.array(call, { minLength: 40, maxLength: 80 }),
    async (calls) => {
      const model = new Model()
      const prefix = `${(histories += 1)} `
      for (const call of calls) {
        const expected = model.answer(call)
        for (const store of stores) deepStrictEqual(await ask(store, prefix, call), expected)
      }
    },
  )
  await fc.assert(property, { seed, numRuns, endOnFailure: SEED === undefined })
  t.ok(histories >= numRuns)
})
