import { type Batched, Batcher } from '../batch.ts'
import type { Key } from '../store.ts'
import { StoreBusy } from '../../errors.ts'
import type { Access, Columns } from './access.ts'
import { MAX_WRITES } from './writes.ts'

/** A change that waits for its commit. */
interface Update {
  readonly owner: string
  readonly key: Key
  readonly change: (text: string) => string | undefined
}

type Item = Batched<Update, string | undefined>

/** A change of the text that was read, which must still be stored when it is written. */
interface Change {
  readonly item: Item
  readonly from: string
  readonly to: string
}

/** Changes items: reads them, and writes each that no other process has changed meanwhile. It repeats this for the others. */
export class Updates {
  readonly #access: Access
  readonly #sql: ReturnType<typeof statements>
  readonly #batches: Batcher<Update, string | undefined>

  constructor(access: Access, columns: Columns) {
    this.#access = access
    this.#sql = statements(columns)
    const shareOf = ({ owner, key }: Update) => `${owner}\0${key}`
    const options = { max: MAX_WRITES, shareOf, maxShare: 1, timeout: access.timeout }
    this.#batches = new Batcher((batch) => this.#run(batch), options)
  }

  /** @returns the item that is stored now; undefined if there is none */
  add(update: Update): Promise<string | undefined> {
    return this.#batches.add(update)
  }

  get waiting(): number {
    return this.#batches.waiting
  }

  idle(): Promise<unknown> {
    return this.#batches.idle()
  }

  async #run(batch: readonly Item[]): Promise<void> {
    const idOf = ({ item: { owner, key } }: Item) => `${owner}\0${key}`
    // All replicas write in the same order: otherwise they could deadlock.
    let left = batch.toSorted((one, two) => (idOf(one) < idOf(two) ? -1 : 1))
    const end = Math.min(...batch.map((each) => each.end))
    while (left.length > 0) {
      const time = end - performance.now()
      if (time <= 0) throw new StoreBusy('others change the same items')
      const stored = await this.#texts(this.#access.read(this.#sql.read, columnsOf(left), undefined, time))
      const changes = left.flatMap((item) => applied(item, stored.get(idOf(item))))
      if (changes.length === 0) return
      const values = [...columnsOf(changes.map(({ item }) => item)), changes.map(({ from }) => from)]
      values.push(changes.map(({ to }) => to))
      const write = this.#access.write(this.#sql.write, values, undefined, end - performance.now())
      const written = await this.#texts(write)
      const isWritten = ({ item }: Change) => written.has(idOf(item))
      for (const { item, to } of changes.filter(isWritten)) item.resolve(to)
      if (written.size > 0) this.#access.onCommit(written.size)
      left = changes.filter((change) => !isWritten(change)).map(({ item }) => item)
    }
  }

  async #texts(result: ReturnType<Access['read']>): Promise<ReadonlyMap<string, string>> {
    const { rows } = await result
    return new Map(rows.map((row) => [`${String(row['owner'])}\0${String(row['key'])}`, String(row['item'])]))
  }
}

/** Applies a change to what is stored. Settles it if there is nothing to write. */
function applied(each: Item, from: string | undefined): Change[] {
  try {
    const to = from === undefined ? undefined : each.item.change(from)
    if (from !== undefined && to !== undefined) return [{ item: each, from, to }]
    each.resolve(from)
  } catch (error) {
    each.reject(error)
  }
  return []
}

function columnsOf(items: readonly Item[]): unknown[][] {
  return [items.map(({ item }) => item.owner), items.map(({ item }) => item.key)]
}

function statements({ name, type, columns: [owner, key, item] }: Columns) {
  const sqlType = type === 'text' ? 'text' : 'int8'
  const returned = `stored.${owner} AS owner, stored.${key} AS key, stored.${item} AS item`
  const isGiven = `stored.${owner} = given.owner AND stored.${key} = given.key`
  return {
    read: `SELECT ${returned} FROM unnest($1::text[], $2::${sqlType}[]) AS given (owner, key)
      JOIN "${name}" AS stored ON ${isGiven}`,
    write: `UPDATE "${name}" AS stored SET ${item} = given.item
      FROM unnest($1::text[], $2::${sqlType}[], $3::text[], $4::text[]) AS given (owner, key, before, item)
      WHERE ${isGiven} AND stored.${item} = given.before RETURNING ${returned}`,
  }
}
