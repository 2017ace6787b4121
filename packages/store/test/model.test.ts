// Runs random histories on a model in memory and on each engine. All must give the same answers,
// byte for byte. LONG=1 runs many; HISTORIES=<number> runs this many; SEED=<number> repeats a run,
// and looks for the shortest failing history.
import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { change, removed, write } from '@plant-store/engine'
import type { Collection, Key } from '@plant-store/engine/for-store'
import { startEngines } from '../../../test/support/stores/store-engines.ts'
import { fields, parse, stringify } from '../../../test/support/inner/json.ts'
import { cursorOf, textOf } from '../../../test/support/stores/read-page.ts'

const stores = await Promise.all(
  (await startEngines(t)).map(async ({ open }) => {
    // On a slow machine an answer may take longer than a caller waits.
    const { store } = await open(t, { DATABASE_POOL_SIZE: 5, DATABASE_TIMEOUT: 60 })
    const collectionOf = (name: string): Collection<unknown, Key> =>
      store.collection(name, { parse })
    return { plants: collectionOf('plants'), notes: collectionOf('notes') }
  }),
)

interface Where {
  readonly name: 'plants' | 'notes'
  readonly owner: string
  readonly key: Key
}

interface Write extends Where {
  readonly kind: 'create' | 'update' | 'delete'
  readonly item: unknown
  /** Added to the item's count; undefined: nothing is changed. */
  readonly by: bigint | undefined
}

interface Read extends Where {
  /** Finds the key, or lists after the key or from the first item. */
  readonly kind: 'find' | 'after' | 'first'
  readonly limit: number | undefined
}

/** A change of two items of an owner, one in each collection. */
interface Change {
  readonly kind: 'change'
  readonly owner: string
  readonly plant: bigint
  readonly note: string
  /** What becomes of each: a new item, undefined to delete it, or null to leave it. */
  readonly to: readonly [plant: unknown, note: unknown]
  /** Whether the plant must be there, or must not: otherwise nothing is done. */
  readonly needs: boolean
}

/** Simultaneous requests. The answers must be the same as for one after the other. */
type Step = readonly Write[] | readonly Read[] | readonly Change[]

/** The items of each owner in each collection, as JSON by their keys. */
class Model {
  readonly #owners = new Map<string, Map<Key, string>>()

  answer(call: Write | Read | Change): unknown {
    if (call.kind === 'change') return this.#change(call)
    const { kind, key } = call
    const items = this.#itemsOf(call)
    if (kind === 'delete') return items.delete(key)
    if (kind === 'after' || kind === 'first') return pageOf(items, call)
    const stored = items.get(key)
    const created = kind === 'create' && stored === undefined ? call.item : undefined
    const now = kind === 'update' ? changed(stored && parse(stored), call) : created
    if (now !== undefined) items.set(key, stringify(now))
    return items.get(key)
  }

  #change({ owner, plant, note, to, needs }: Change): unknown {
    const places = [
      { items: this.#itemsOf({ name: 'plants', owner }), key: plant },
      { items: this.#itemsOf({ name: 'notes', owner }), key: note },
    ]
    const stored = places.map(({ items, key }) => items.get(key))
    if (needs !== (stored[0] !== undefined)) return { refused: stored }
    for (const [at, { items, key }] of places.entries()) {
      const item = to[at]
      if (item === undefined) items.delete(key)
      else if (item !== null) items.set(key, stringify(item))
    }
    return { done: stored }
  }

  #itemsOf({ name, owner }: Pick<Where, 'name' | 'owner'>): Map<Key, string> {
    const items = this.#owners.get(`${name} ${owner}`) ?? new Map<Key, string>()
    this.#owners.set(`${name} ${owner}`, items)
    return items
  }
}

function pageOf(items: ReadonlyMap<Key, string>, { kind, key, limit }: Read) {
  const rest = [...items]
    .filter(([second]) => kind === 'first' || compare(second, key) > 0)
    .sort(([left], [two]) => compare(left, two))
  const page = rest.slice(0, limit)
  const last = page.length < rest.length ? page.at(-1)?.[0] : undefined
  return {
    text: `[${page.map(([, text]) => text).join()}]`,
    next: last === undefined ? last : cursorOf(last),
  }
}

/** Sends a request to a store. @param prefix of the owners' names: each history has new owners */
async function ask(
  store: (typeof stores)[number],
  prefix: string,
  call: Write | Read | Change,
): Promise<unknown> {
  if (call.kind === 'change') return askChange(store, prefix, call)
  const { name, kind, key } = call
  const owner = prefix + call.owner
  const items = store[name]
  if (kind === 'delete') return items.delete(owner, key)
  if (kind === 'after' || kind === 'first') {
    const page = await items.list(owner, {
      limit: call.limit,
      cursor: kind === 'after' ? cursorOf(key) : undefined,
    })
    return { text: textOf(page).text, next: page.next }
  }
  if (kind === 'create') return textOrNone(await items.create(owner, key, call.item))
  if (kind === 'update')
    return textOrNone(await items.update(owner, key, (item) => changed(item, call)))
  return textOrNone(await items.find(owner, key))
}

function askChange(
  { plants, notes }: (typeof stores)[number],
  prefix: string,
  { owner, plant, note, to, needs }: Change,
): Promise<unknown> {
  const items = { plant: plants.at(plant), note: notes.at(note) }
  return change(prefix + owner, items, (now) => {
    const stored = [textOrNone(now.plant), textOrNone(now.note)]
    if (needs !== (stored[0] !== undefined)) return { refused: stored }
    const [newPlant, newNote] = to.map((item) => (item === undefined ? removed : item))
    const written = {
      ...(newPlant !== null && { plant: newPlant }),
      ...(newNote !== null && { note: newNote }),
    }
    return write(written, { done: stored })
  })
}

const textOrNone = (item: unknown) => (item === undefined ? undefined : stringify(item))

function changed(item: unknown, { by }: Write): unknown {
  if (item === undefined || by === undefined) return undefined
  const { count = 0n, ...rest } = fields(item)
  return { ...rest, count: BigInt.asIntN(64, BigInt(count as bigint | number) + by) } // as `parse` reads integers
}

/** Compares int64 by their values, and strings by their bytes in UTF-8. */
function compare(left: Key, two: Key): number {
  if (typeof left === 'string' && typeof two === 'string')
    return Buffer.compare(Buffer.from(left), Buffer.from(two))
  return left < two ? -1 : Number(left > two)
}

const MAX = 2n ** 63n - 1n
// Some values are near each other, for conflicts; the others are anywhere.
const int64 = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      -MAX - 1n,
      -MAX,
      -1n,
      0n,
      1n,
      2n ** 53n,
      2n ** 53n + 1n,
      MAX - 1n,
      MAX,
    ),
  },
  fc.bigInt({ min: -MAX - 1n, max: MAX }),
)
const TEXTS = [
  'a',
  'A',
  'a ',
  ' a',
  'é',
  'e\u0301',
  '"\\',
  "'{,}",
  'NULL',
  '1e400',
  '\u2028',
  '\uFFFF',
  '\u{10FFFF}',
]
const LONG = ['植'.repeat(255), '🌵'.repeat(255)]
const text = fc.oneof(
  fc.constantFrom(...TEXTS, ...LONG),
  fc.string({ unit: 'binary', maxLength: 255 }),
)
const isKey = (key: string) => key !== '' && !key.includes('\0') && Buffer.byteLength(key) <= 1024
const owner = fc.constantFrom('joe', 'Joe', 'joe ', 'jöe', 'jo\u0308e', '植', '')
const where: fc.Arbitrary<Where> = fc.oneof(
  fc.record({ name: fc.constant('plants' as const), owner, key: int64 }),
  fc.record({ name: fc.constant('notes' as const), owner, key: text.filter(isKey) }),
)
const item = fc.record(
  { name: text, tag: text, count: int64 },
  { requiredKeys: ['name'], noNullPrototype: true },
)
const kind = fc.constantFrom('create', 'create', 'update', 'update', 'delete')
const by = fc.option(int64, { nil: undefined, freq: 9 })
const limit = fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined })
const somewhere = <What>(what: fc.Arbitrary<What>) =>
  fc.tuple(where, what).map(([where, what]): Where & What => ({ ...where, ...what }))
const oneWrite: fc.Arbitrary<Write> = somewhere(fc.record({ kind, item, by }))
const oneRead: fc.Arbitrary<Read> = somewhere(
  fc.record({ kind: fc.constantFrom('find', 'after', 'first'), limit }),
)
const future = fc.oneof(item, fc.constantFrom(undefined, null))
const oneChange: fc.Arbitrary<Change> = fc.record({
  kind: fc.constant('change' as const),
  owner,
  plant: int64,
  note: text.filter(isKey),
  to: fc.tuple(future, future),
  needs: fc.boolean(),
})
const history: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.array(oneWrite, { minLength: 1, maxLength: 12 }),
    fc.array(oneRead, { minLength: 1, maxLength: 4 }),
    fc.array(oneChange, { minLength: 1, maxLength: 8 }),
  ),
  { maxLength: 60, size: 'max' },
)

const { HISTORIES, SEED } = process.env
const usual = process.env['LONG'] === undefined ? 20 : 3000
const numRuns = Number(HISTORIES ?? usual)
t.setTimeout(numRuns * 20_000)

t.test(
  'random histories have the same answers on all engines as in memory',
  { timeout: 0 },
  async (t) => {
    const seed = Number(SEED ?? Date.now() % 2 ** 31)
    t.comment(`SEED=${seed}`)
    let histories = 0
    const property = fc.asyncProperty(history, async (steps) => {
      const model = new Model()
      const prefix = `${(histories += 1)} `
      for (const step of steps) {
        const expected = step.map((call) => model.answer(call))
        for (const store of stores) {
          deepStrictEqual(await Promise.all(step.map((call) => ask(store, prefix, call))), expected)
        }
      }
    })
    // Looking for the shortest history takes minutes, and a hundred thousand statements.
    await fc.assert(property, { seed, numRuns, endOnFailure: SEED === undefined })
    t.ok(histories >= numRuns)
  },
)
