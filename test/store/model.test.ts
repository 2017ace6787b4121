// Runs random histories on a model in memory and on each kind of store. All must give the same answers, byte for byte.
// LONG=1 runs many; SEED=<number> repeats a run.
import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { type Plant, type Store } from '../../service/store/store.ts'
import { read } from '../support/pages.ts'
import { startPostgres } from '../support/postgres.ts'
import { openStore } from '../../service/store/open.ts'

const server = await startPostgres(t)
const stores: Store[] = [
  await openStore({ file: `${t.testdir()}/plants.db` }),
  await openStore({ url: await server.createDatabase() }),
]
t.teardown(() => Promise.all(stores.map((each) => each.close())))

/** The plants of each owner, by their ids. */
type Model = Map<string, Map<bigint, Plant>>

interface Write {
  readonly kind: 'create' | 'update' | 'delete'
  readonly owner: string
  readonly id: bigint
  readonly plant: Plant
}

interface Real {
  /** A prefix of the owners' names, so that each history has new owners. */
  readonly prefix: string
}

const plantsOf = (model: Model, owner: string): Map<bigint, Plant> => {
  const plants = model.get(owner) ?? new Map<bigint, Plant>()
  model.set(owner, plants)
  return plants
}

/** Writes that arrive together. The answers must be the same as for one write after the other. */
class Together implements fc.AsyncCommand<Model, Real> {
  readonly writes: readonly Write[]

  constructor(writes: readonly Write[]) {
    this.writes = writes
  }

  check = () => true

  async run(model: Model, { prefix }: Real): Promise<void> {
    const expected = this.writes.map(({ kind, owner, id, plant }) => {
      const plants = plantsOf(model, owner)
      const stored = plants.get(id)
      if (kind === 'delete') return plants.delete(id)
      if (kind === 'create' ? stored === undefined : stored !== undefined) plants.set(id, plant)
      return kind === 'create' ? (stored ?? plant) : stored !== undefined
    })
    for (const store of stores) {
      const answers = this.writes.map(({ kind, owner, id, plant }) => store[kind](prefix + owner, id, plant))
      deepStrictEqual(await Promise.all<boolean | Plant>(answers), expected)
    }
  }

  toString = () =>
    this.writes.map(({ kind, owner, id, plant }) => `${kind} ${owner} ${id} ${JSON.stringify(plant)}`).join()
}

class List implements fc.AsyncCommand<Model, Real> {
  readonly #owner: string
  readonly #after: bigint | undefined
  readonly #limit: number | undefined

  constructor(owner: string, after: bigint | undefined, limit: number | undefined) {
    this.#owner = owner
    this.#after = after
    this.#limit = limit
  }

  check = () => true

  async run(model: Model, { prefix }: Real): Promise<void> {
    const after = this.#after
    const rest = [...plantsOf(model, this.#owner)]
      .filter(([id]) => after === undefined || id > after)
      .sort(([one], [two]) => (one < two ? -1 : 1))
    const page = rest.slice(0, this.#limit)
    const last = page.length < rest.length ? { last: page.at(-1)?.[0] } : {}
    const expected = { plants: page.map(([, plant]) => plant), ...last }
    for (const store of stores) {
      deepStrictEqual(await read(store.list(prefix + this.#owner, after, this.#limit)), expected)
    }
  }

  toString = () => `list ${this.#owner} ${this.#after} ${this.#limit}`
}

const MAX = 2n ** 63n - 1n
const owner = fc.constantFrom('joe', 'Joe', 'jöe', 'jo\u0308e', '植')
// Some ids are near each other, for conflicts; the others are anywhere.
const id = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(-MAX - 1n, -MAX, -1n, 0n, 1n, 2n ** 53n, 2n ** 53n + 1n, MAX - 1n, MAX) },
  fc.bigInt({ min: -MAX - 1n, max: MAX }),
)
const text = fc.oneof(
  fc.constantFrom('a', '"\\', '{,}', 'NULL', '\u2028'),
  fc.string({ unit: 'binary', maxLength: 255 }),
)
const plant = fc.record({ name: text, tag: text }, { requiredKeys: ['name'], noNullPrototype: true })
const kind = fc.constantFrom('create', 'create', 'update', 'delete')
const write: fc.Arbitrary<Write> = fc.record({ kind, owner, id, plant })
const limit = fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined })
const commands = fc.commands(
  [
    fc.array(write, { minLength: 1, maxLength: 12 }).map((writes) => new Together(writes)),
    fc.tuple(owner, fc.option(id, { nil: undefined }), limit).map((words) => new List(...words)),
  ],
  { maxCommands: 60, size: 'max' },
)

const numRuns = process.env['LONG'] === undefined ? 40 : 3000
t.setTimeout(numRuns * 10_000)

t.test('random histories have the same answers on all stores as in memory', { timeout: 0 }, async (t) => {
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
