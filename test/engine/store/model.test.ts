// Runs random histories on a model in memory and on each engine. All must give the same answers, byte for byte.
// LONG=1 runs many; SEED=<number> repeats a run.
import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { makeCollection } from '../../../service/engine/store/collection.ts'
import type { Collection, Key } from '../../../service/engine/store/store.ts'
import { startEngines } from '../../support/engines.ts'
import { fields } from '../../support/fields.ts'
import { parse, stringify } from '../../support/json.ts'
import { COLLECTIONS } from '../../support/stores.ts'
import { textOf } from '../../support/pages.ts'

type Name = keyof typeof COLLECTIONS
type Collections = Readonly<Record<Name, Collection<unknown, Key>>>

const engines = await startEngines(t)
const stores = await Promise.all(
  engines.map(async ({ open }): Promise<Collections> => {
    const { store } = await open(t)
    t.teardown(() => store.close())
    return { plants: makeCollection(store, 'plants', parse), notes: makeCollection(store, 'notes', parse) }
  }),
)

/** The items of each owner in each collection, as JSON by their keys. */
type Model = Map<string, Map<Key, string>>

interface Where {
  readonly name: Name
  readonly owner: string
  readonly key: Key
}

interface Write extends Where {
  readonly kind: 'create' | 'update' | 'delete'
  /** What is created. */
  readonly item: unknown
  /** What an update adds to the item's count; undefined: nothing is changed. */
  readonly by: bigint | undefined
}

interface Real {
  /** A prefix of the owners' names, so that each history has new owners. */
  readonly prefix: string
}

function itemsOf(model: Model, { name, owner }: Pick<Where, 'name' | 'owner'>): Map<Key, string> {
  const id = `${name} ${owner}`
  const items = model.get(id) ?? new Map<Key, string>()
  model.set(id, items)
  return items
}

/** Writes that arrive together. The answers must be the same as for one write after the other. */
class Writes implements fc.AsyncCommand<Model, Real> {
  readonly #writes: readonly Write[]

  constructor(writes: readonly Write[]) {
    this.#writes = writes
  }

  check = () => true

  async run(model: Model, { prefix }: Real): Promise<void> {
    const expected = this.#writes.map((write) => {
      const { kind, key, item } = write
      const items = itemsOf(model, write)
      if (kind === 'delete') return String(items.delete(key))
      const stored = items.get(key)
      const now =
        kind === 'create' ? (stored === undefined ? item : undefined) : changed(stored && parse(stored), write)
      if (now !== undefined) items.set(key, stringify(now))
      return items.get(key)
    })
    for (const store of stores) {
      const answers = this.#writes.map((write): Promise<unknown> => {
        const { name, kind, key, item } = write
        const owner = prefix + write.owner
        if (kind === 'create') return store[name].create(owner, key, item)
        if (kind === 'delete') return store[name].delete(owner, key)
        return store[name].update(owner, key, (item) => changed(item, write))
      })
      const texts = (await Promise.all(answers)).map((answer) => (answer === undefined ? answer : stringify(answer)))
      deepStrictEqual(texts, expected)
    }
  }

  toString = () => `write ${stringify(this.#writes)}`
}

function changed(item: unknown, { by }: Write): unknown {
  if (item === undefined || by === undefined) return undefined
  const { count = 0n, ...rest } = fields(item)
  return { ...rest, count: BigInt.asIntN(64, BigInt(count as bigint | number) + by) } // as `parse` reads integers
}

class List implements fc.AsyncCommand<Model, Real> {
  readonly #where: Where
  readonly #isAfter: boolean
  readonly #limit: number | undefined

  /** @param isAfter whether the list begins after the key, or with the first item */
  constructor(where: Where, isAfter: boolean, limit: number | undefined) {
    this.#where = where
    this.#isAfter = isAfter
    this.#limit = limit
  }

  check = () => true

  async run(model: Model, { prefix }: Real): Promise<void> {
    const { name, owner, key } = this.#where
    const rest = [...itemsOf(model, this.#where)]
      .filter(([each]) => !this.#isAfter || compare(each, key) > 0)
      .sort(([one], [two]) => compare(one, two))
    const page = rest.slice(0, this.#limit)
    const last = page.length < rest.length ? page.at(-1)?.[0] : undefined
    const expected = {
      text: `[${page.map(([, text]) => text).join()}]`,
      next: last === undefined ? last : toCursor(last),
    }
    const cursor = this.#isAfter ? toCursor(key) : undefined
    for (const store of stores) {
      const found = await store[name].list(prefix + owner, { limit: this.#limit, cursor })
      deepStrictEqual({ text: textOf(found).text, next: found.next }, expected)
    }
  }

  toString = () => `list ${stringify(this.#where)} ${this.#isAfter} ${this.#limit}`
}

/** Compares int64 by their values, and texts by their bytes in UTF-8. */
function compare(one: Key, two: Key): number {
  return Buffer.compare(toBytes(one), toBytes(two))
}

function toBytes(key: Key): Buffer {
  if (typeof key === 'string') return Buffer.from(key)
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt.asUintN(64, key + 2n ** 63n))
  return bytes
}

function toCursor(key: Key): string {
  const bytes = toBytes(key)
  if (typeof key === 'bigint') bytes.writeBigInt64BE(key)
  return bytes.toString('base64url')
}

const MAX = 2n ** 63n - 1n
// Some values are near each other, for conflicts; the others are anywhere.
const int64 = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(-MAX - 1n, -MAX, -1n, 0n, 1n, 2n ** 53n, 2n ** 53n + 1n, MAX - 1n, MAX) },
  fc.bigInt({ min: -MAX - 1n, max: MAX }),
)
const TEXTS = ['a', 'A', 'a ', 'é', 'e\u0301', '"\\', '{,}', 'NULL', '\u2028', '\uFFFF', '\u{10000}', '\u{10FFFF}']
const text = fc.oneof(fc.constantFrom(...TEXTS), fc.string({ unit: 'binary', maxLength: 255 }))
const isKey = (key: string) => key !== '' && !key.includes('\0') && Buffer.byteLength(key) <= 1024
const owner = fc.constantFrom('joe', 'Joe', 'jöe', 'jo\u0308e', '植')
const where: fc.Arbitrary<Where> = fc.oneof(
  fc.record({ name: fc.constant('plants' as const), owner, key: int64 }),
  fc.record({ name: fc.constant('notes' as const), owner, key: text.filter(isKey) }),
)
const item = fc.record({ name: text, tag: text, count: int64 }, { requiredKeys: ['name'], noNullPrototype: true })
const kind = fc.constantFrom('create', 'create', 'update', 'update', 'delete')
const by = fc.option(int64, { nil: undefined, freq: 9 })
const write: fc.Arbitrary<Write> = fc
  .tuple(where, fc.record({ kind, item, by }))
  .map(([where, what]) => ({ ...where, ...what }))
const limit = fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined })
const commands = fc.commands(
  [
    fc.array(write, { minLength: 1, maxLength: 12 }).map((writes) => new Writes(writes)),
    fc.tuple(where, fc.boolean(), limit).map((words) => new List(...words)),
  ],
  { maxCommands: 60, size: 'max' },
)

const numRuns = process.env['LONG'] === undefined ? 40 : 3000
t.setTimeout(numRuns * 10_000)

t.test('random histories have the same answers on all engines as in memory', { timeout: 0 }, async (t) => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
  t.comment(`SEED=${seed}`)
  let histories = 0
  const history = fc.asyncProperty(commands, async (commands) => {
    const prefix = `${(histories += 1)} `
    await fc.asyncModelRun(() => ({ model: new Map(), real: { prefix } }), commands)
  })
  await fc.assert(history, { seed, numRuns })
  t.ok(histories >= numRuns)
})
