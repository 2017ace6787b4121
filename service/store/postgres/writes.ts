import { setImmediate as nextTurn } from 'node:timers/promises'
import { BATCH } from '../lists.ts'
import type { Connections } from './connections.ts'
import { fromPlant, type Row } from '../rows.ts'
import { type Figures, type Plant } from '../store.ts'
import { StoreUnavailable } from '../../errors.ts'

/** The statement for each kind of write. A conflicting plant is written as it is: that locks it, and so it is read. */
const WRITES = {
  create: `INSERT INTO plants (owner, id, plant) SELECT * FROM $given
    ON CONFLICT (owner, id) DO UPDATE SET plant = plants.plant RETURNING owner, id, plant`,
  update: `UPDATE plants SET plant = given.plant FROM $given
    WHERE plants.owner = given.owner AND plants.id = given.id RETURNING plants.owner, plants.id, plants.plant`,
  delete: `DELETE FROM plants USING $given
    WHERE plants.owner = given.owner AND plants.id = given.id RETURNING plants.owner, plants.id, plants.plant`,
}

type Kind = keyof typeof WRITES

/** A write that waits for its commit. Its answer is the row that it wrote or deleted, if there is one. */
interface Write {
  readonly kind: Kind
  readonly owner: string
  readonly id: bigint
  readonly text: string | undefined
  /** When it is too late to begin with it. */
  readonly end: number
  readonly resolve: (row: Row | undefined) => void
  readonly reject: (error: unknown) => void
}

/** Group commit: the writes that arrive in one turn of the event loop, or while others are committed, share a commit. */
export class Writes {
  readonly #connections: Connections
  readonly #timeout: number
  #commits = 0
  #written = 0
  #waiting: Write[] = []
  #writing: Promise<void> | undefined

  /** @param timeout milliseconds for each write */
  constructor(connections: Connections, timeout: number) {
    this.#connections = connections
    this.#timeout = timeout
  }

  /** Writes one plant. @returns the row that was written or deleted, if there is one */
  add(kind: Kind, owner: string, id: bigint, plant?: Plant): Promise<Row | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<Row | undefined>()
    const text = plant && fromPlant(plant)
    this.#waiting.push({ kind, owner, id, text, end: performance.now() + this.#timeout, resolve, reject })
    this.#writing ??= this.#commitAll()
    return promise
  }

  /** How many commits and writes there were. */
  get figures(): Pick<Figures, 'commits' | 'writes'> {
    return { commits: this.#commits, writes: this.#written }
  }

  /** Waits for all that was added. */
  async end(): Promise<void> {
    await this.#writing
  }

  async #commitAll(): Promise<void> {
    await nextTurn()
    while (this.#waiting.length > 0) {
      const batch = this.#take()
      if (batch.length > 0) await this.#commit(batch)
    }
    this.#writing = undefined
  }

  /** Takes the next writes: of those to one plant the first alone, for in one statement they have no order. */
  #take(): Write[] {
    const batch = new Map<string, Write>()
    const others: Write[] = []
    // A quarter of its time is enough for a commit, and a stall of PostgreSQL may take the rest.
    const latest = performance.now() + this.#timeout / 4
    for (const write of this.#waiting) {
      const key = `${write.owner} ${write.id}`
      if (write.end < latest) write.reject(new StoreUnavailable('too many writes wait'))
      else if (batch.has(key) || batch.size === BATCH) others.push(write)
      else batch.set(key, write)
    }
    this.#waiting = others
    // In one order on all replicas: otherwise they would wait for each other.
    return [...batch].sort(([one], [two]) => (one < two ? -1 : 1)).map(([, write]) => write)
  }

  async #commit(batch: Write[]): Promise<void> {
    const { text, values } = statementFor(batch)
    const timeout = Math.min(...batch.map(({ end }) => end)) - performance.now()
    try {
      const rows = await this.#connections.write(text, values, timeout)
      this.#commits += 1
      this.#written += batch.length
      const byKey = new Map(rows.map((row) => [`${String(row['owner'])} ${String(row['id'])}`, row]))
      for (const { owner, id, resolve } of batch) resolve(byKey.get(`${owner} ${id}`))
    } catch (error) {
      if (error instanceof StoreUnavailable || batch.length === 1) for (const { reject } of batch) reject(error)
      // One of them can't be stored, or the engine does not take different kinds in one statement.
      else for (const write of batch) await this.#commit([write])
    }
  }
}

/** One statement for writes to different plants. It gives a row for each plant that was written or deleted. */
function statementFor(batch: readonly Write[]) {
  const values: unknown[] = []
  const statements = Object.entries(WRITES).flatMap(([kind, statement]) => {
    const writes = batch.filter((write) => write.kind === kind)
    if (writes.length === 0) return []
    const at = values.length
    values.push(
      writes.map(({ owner }) => owner),
      writes.map(({ id }) => id),
      writes.map(({ text }) => text),
    )
    const given = `unnest($${at + 1}::text[], $${at + 2}::int8[], $${at + 3}::text[]) AS given (owner, id, plant)`
    return { kind, statement: statement.replace('$given', given) }
  })
  const [first, ...more] = statements
  if (more.length === 0) return { text: first?.statement ?? '', values }
  const parts = statements.map(({ kind, statement }) => `${kind}d AS (${statement})`)
  const rows = statements.map(({ kind }) => `SELECT owner, id, plant FROM ${kind}d`)
  return { text: `WITH ${parts.join(', ')} ${rows.join(' UNION ALL ')}`, values }
}
