import { STEP_LENGTH } from '../lists.ts'
import { type Batched, Batcher } from '../batch.ts'
import type { Row } from '../tokens.ts'
import type { Entry, Key, KeyType, Rows, Step, Table } from '../store.ts'
import type { Columns } from './schema.ts'
import { type Access, MAX_WRITES, timeLeft, Writes } from './writes.ts'

/** Bytes that one statement may return, and the part of one owner. */
const MAX_LENGTH = 16 * STEP_LENGTH
const MAX_OWNER_LENGTH = 4 * STEP_LENGTH
/** Items that one statement finds. */
const MAX_FINDS = 64
/** Bytes of a row, about. */
const ROW_LENGTH = 1024
const ENTRIES = 500
const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n

interface Place {
  readonly owner: string
  readonly key: Key
}
interface Update extends Place {
  readonly change: (text: string) => string | undefined
}

/** The table of a collection on PostgreSQL. */
export class PostgresTable implements Table {
  readonly key: KeyType
  readonly #access: Access
  readonly #sql: ReturnType<typeof statements>
  readonly #columns: Columns
  readonly #writes: Writes
  readonly #updates: Batcher<Update, string | undefined>
  readonly #finds: Batcher<Place, string | undefined>
  readonly #steps: Batcher<Step, Rows>

  constructor(access: Access, columns: Columns) {
    this.key = columns.type
    this.#access = access
    this.#columns = columns
    this.#sql = statements(columns)
    this.#writes = new Writes(access, columns)
    const { parallel, timeout } = access
    // Those of one item run one after the other: only other processes can be faster than one of them.
    const one = { shareOf: ({ owner, key }: Update) => `${owner}\0${key}`, maxShare: 1 }
    this.#updates = new Batcher(
      async (batch) => {
        await Promise.all(batch.map((each) => this.#update(each.item, each.end).then(each.resolve, each.reject)))
      },
      { max: MAX_WRITES, timeout, ...one },
    )
    this.#finds = new Batcher((batch) => this.#find(batch), { max: MAX_FINDS, eager: true, parallel, timeout })
    this.#steps = new Batcher((batch) => this.#read(batch), {
      max: MAX_LENGTH,
      shareOf: ({ owner }) => owner,
      weigh: ({ most, length }) => Math.min(length, most * ROW_LENGTH),
      maxShare: MAX_OWNER_LENGTH,
      parallel,
      timeout,
    })
  }

  async create(owner: string, key: Key, text: string): Promise<string> {
    return (await this.#writes.add({ kind: 'create', owner, key, text, before: '' })) ?? text
  }

  async delete(owner: string, key: Key): Promise<boolean> {
    return (await this.#writes.add({ kind: 'delete', owner, key, text: '', before: '' })) !== undefined
  }

  update(owner: string, key: Key, change: Update['change']): Promise<string | undefined> {
    return this.#updates.add({ owner, key, change })
  }

  find(owner: string, key: Key): Promise<string | undefined> {
    return this.#finds.add({ owner, key })
  }

  read(step: Step, latest: number): Promise<Rows> {
    return this.#steps.add(step, latest)
  }

  async skip(owner: string, after: Key | undefined, count: number, latest: number): Promise<Key | undefined> {
    const values = [owner, this.#from(after), count - 1]
    const { rows } = await this.#access.read(this.#sql.skip, values, this.#name('skip'), latest - performance.now())
    return rows[0] && this.#toKey(rows[0]['key'])
  }

  async entries(after?: Entry): Promise<Entry[]> {
    const { rows } = await this.#access.read(this.#sql.entries, [after?.owner ?? '', this.#from(after?.key)])
    return rows.map(({ owner, key, item }) => ({ owner: String(owner), key: this.#toKey(key), text: String(item) }))
  }

  /** How many operations wait for a statement to be sent. */
  get waiting(): number {
    return this.#writes.waiting + this.#updates.waiting + this.#finds.waiting + this.#steps.waiting
  }

  async idle(): Promise<void> {
    await this.#updates.idle()
    await this.#writes.idle()
  }

  /** Changes what is stored, unless another process has changed it meanwhile; then again. */
  async #update({ change, ...place }: Update, end: number): Promise<string | undefined> {
    for (;;) {
      const before = await this.#finds.add(place, end)
      const text = before === undefined ? undefined : change(before)
      if (before === undefined || text === undefined) return before
      if ((await this.#writes.add({ kind: 'update', ...place, text, before }, end)) !== undefined) return text
    }
  }

  /** One statement finds the items that are requested at the same time, as many as an owner may get; the next one the others. */
  async #find(batch: readonly Batched<Place, string | undefined>[]): Promise<void> {
    const columns = [batch.map(({ item }) => item.owner), batch.map(({ item }) => item.key)]
    const { rows } = await this.#access.read(this.#sql.find, columns, this.#name('find'), timeLeft(batch))
    const found = new Map(rows.map(({ n, item }) => [Number(n), item]))
    for (const [at, { item, end, resolve, reject }] of batch.entries()) {
      const text = found.get(at + 1)
      if (text === null) this.#finds.add(item, end).then(resolve, reject)
      else resolve(typeof text === 'string' ? text : undefined)
    }
  }

  /** One statement reads all steps that are requested at the same time, and each step once. */
  async #read(batch: readonly Batched<Step, Rows>[]): Promise<void> {
    const valuesOf = ({ owner, after, most, length, end }: Step) => [
      owner,
      this.#from(after),
      most,
      length,
      end ?? null,
    ]
    const asked = batch.map((each) => ({ ...each, values: valuesOf(each.item) }))
    // NUL separates the values, because PostgreSQL has no text that contains it.
    const steps = [...Map.groupBy(asked, ({ values }) => values.join('\0')).values()]
    const all = steps.map(([step]) => step?.values ?? [])
    const time = timeLeft(batch)
    const columns = [0, 1, 2, 3, 4].map((column) => all.map((values) => values[column]))
    const { rows } = await (all.length === 1
      ? this.#access.read(this.#sql.step, all[0], this.#name('step'), time)
      : this.#access.read(this.#sql.steps, columns, this.#name('steps'), time))
    for (const { n = 1, ...row } of rows) {
      const read = this.#toRows(row)
      for (const { resolve } of steps[Number(n) - 1] ?? []) resolve(read)
    }
  }

  /** Names a prepared statement. */
  #name(use: string): string {
    return `${this.#columns.name}_${use}`
  }

  /** The bound of the first row: for an int64 the row itself, because no int64 is less than all. */
  #from(after: Key | undefined): Key | null {
    if (after === undefined) return this.key === 'text' ? '' : INT64_MIN
    return typeof after === 'string' ? after : after === INT64_MAX ? null : after + 1n
  }

  #toKey(value: unknown): Key {
    return this.key === 'text' ? String(value) : BigInt(String(value))
  }

  #toRows({ text, count, last, more }: Row): Rows {
    const rows = { text: typeof text === 'string' ? text : '', count: Number(count), hasMore: more === true }
    return rows.count === 0 ? rows : { ...rows, last: this.#toKey(last) }
  }
}

function statements({ name, type, columns: [owner, key, item] }: Columns) {
  const sqlType = type === 'text' ? 'text' : 'int8'
  const from = type === 'text' ? '>' : '>='
  const stepOf = (of: string, after: string, most: string, length: string, end: string) =>
    `SELECT string_agg(item, ',' ORDER BY key) AS text, count(*) AS count, max(key) AS last,
      EXISTS (SELECT FROM "${name}" WHERE ${owner} = ${of} AND ${key} > max(taken.key)) AS more
    FROM (
      SELECT key, item, sum(octet_length(item)) OVER (ORDER BY key) - octet_length(item) AS before
      FROM (SELECT ${key} AS key, ${item} AS item FROM "${name}" WHERE ${owner} = ${of} AND ${key} ${from} ${after}
        ORDER BY ${key} LIMIT ${most}) AS found
    ) AS taken
    WHERE before < ${length} AND (${end} IS NULL OR key <= ${end})`
  return {
    find: `SELECT n, CASE
        WHEN sum(octet_length(${item})) OVER (PARTITION BY of ORDER BY n) - octet_length(${item}) < ${MAX_OWNER_LENGTH}
        THEN ${item} END AS item
      FROM unnest($1::text[], $2::${sqlType}[]) WITH ORDINALITY AS asked (of, at, n)
      JOIN "${name}" ON ${owner} = of AND ${key} = at`,
    skip: `SELECT ${key} AS key FROM "${name}" WHERE ${owner} = $1 AND ${key} ${from} $2 ORDER BY ${key} LIMIT 1 OFFSET $3`,
    entries: `SELECT ${owner} AS owner, ${key} AS key, ${item} AS item FROM "${name}"
      WHERE (${owner}, ${key}) ${from} ($1, $2) ORDER BY ${owner}, ${key} LIMIT ${ENTRIES}`,
    step: stepOf('$1', '$2', '$3', '$4', `$5::${sqlType}`),
    steps: `SELECT n, step.* FROM
      unnest($1::text[], $2::${sqlType}[], $3::int8[], $4::int8[], $5::${sqlType}[])
        WITH ORDINALITY AS asked (of, after, most, length, until, n)
      CROSS JOIN LATERAL (${stepOf('of', 'after', 'most', 'length', 'until')}) AS step`,
  }
}
