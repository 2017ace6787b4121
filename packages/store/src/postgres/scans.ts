// The statements that read the rows of an owner in an order: by key, or by an index.
import type { IndexValue, Key, StoredIndex } from '@plant-store/engine/for-store'
import type { Chunk, Order, Position, Range } from '../core/database.ts'
import { toCells } from './cells.ts'
import type { TableInfo } from './create-tables.ts'
import { areIn, type IndexInfo, toValue } from './indexes.ts'
import type { Cells, Statement, Step } from './pipeline.ts'

/** A bound of the rest of an order, behind the equal values. */
interface Bound {
  /** A letter that tells the bounds apart. */
  readonly id: 'a' | 'b' | 'f' | 't'
  readonly operator: '>' | '>=' | '<' | '<='
  readonly values: readonly (IndexValue | Key)[]
}

/** The rows of an owner in an order, as SQL. */
interface Scan {
  /** The name of its table, or of its index. */
  readonly name: string
  /** Tells it from the other scans of this name. A server cuts names at 63 characters. */
  readonly shape: string
  readonly where: string
  /** The columns behind the equal values: those that order the rows. The last one is the key. */
  readonly rest: readonly string[]
  readonly direction: '' | ' DESC'
  readonly values: readonly (IndexValue | Key)[]
}

type Make = (scan: Scan, next: number) => string

/**
 * Makes the statements of a table. Their first parameter is the owner, and their name says which
 * bounds they have: a server prepares those that are used.
 */
export class Scans {
  readonly #table: TableInfo
  readonly #statements = new Map<string, Statement>()

  constructor(table: TableInfo) {
    this.#table = table
  }

  /**
   * Reads a chunk, and the row after it if there is one. Returns the items as a string, their
   * number, the number of rows read, and for `position` the last row's values and key.
   */
  chunk(chunk: Chunk): Step {
    const limits = [chunk.most + 1, chunk.length]
    return this.#step('list', this.#scan(chunk), limits, (scan, next) => {
      const order = orderOf(scan)
      return `SELECT coalesce(string_agg(item, ',' ORDER BY ${order}) FILTER (WHERE fits), ''),
          count(*) FILTER (WHERE fits), count(*), ${lastOf(scan).join(', ')}
        FROM ${this.#fitting(scan, next)} AS taken`
    })
  }

  /** Reads a chunk like `chunk`. Returns rows of an item, its values and its key; null for the item after the chunk. */
  items(chunk: Chunk): Step {
    const limits = [chunk.most + 1, chunk.length]
    return this.#step('rows', this.#scan(chunk), limits, (scan, next) => {
      return `SELECT CASE WHEN fits THEN item END, ${namesOf(scan).join(', ')}
        FROM ${this.#fitting(scan, next)} AS taken ORDER BY ${orderOf(scan)}`
    })
  }

  /** Returns the values and the key of the last row of a range. */
  skip(range: Range): Step {
    return this.#step('skip', this.#scan(range), [range.count - 1], (scan, next) => {
      const columns = scan.rest.join(', ')
      return `SELECT ${columns} ${this.#from(scan)} ORDER BY ${orderBy(scan)} LIMIT 1 OFFSET $${next}`
    })
  }

  /** Returns the number of rows of a range. */
  count(range: Range): Step {
    return this.#step('size', this.#scan(range), [range.count], (scan, next) => {
      return `SELECT count(*) FROM (SELECT 1 ${this.#from(scan)} LIMIT $${next}) AS counted`
    })
  }

  /** Returns the key and the item with these values in a unique index. */
  findBy(owner: string, index: StoredIndex, equals: readonly IndexValue[]): Step {
    const [, key, item] = this.#table.columns
    const scan = this.#scan({ owner, order: { index, equals, isDescending: false } })
    return this.#step('find', scan, [], () => `SELECT ${key}, ${item} ${this.#from(scan)}`)
  }

  /** The position of a row, from its values behind the equal ones, and its key. */
  position({ index, equals }: Order, cells: Cells): Position {
    const types = index?.properties.slice(equals.length).map(({ type }) => type) ?? []
    const rest = types.map((type, at) => toValue(type, String(cells[at])))
    return { values: [...equals, ...rest], key: this.toKey(cells.at(-1)) }
  }

  toKey(value: unknown): Key {
    return this.#table.type === 'text' ? String(value) : BigInt(String(value))
  }

  #step(kind: string, scan: Scan, limits: readonly number[], make: Make): Step {
    const name = `${scan.name}_${kind}${scan.shape}`
    let statement = this.#statements.get(name)
    if (statement === undefined) {
      statement = { name, text: make(scan, scan.values.length + 1) }
      this.#statements.set(name, statement)
    }
    return { statement, values: toCells([...scan.values, ...limits]) }
  }

  /** @param range with its last row, if the range ends there */
  #scan(range: Pick<Chunk, 'owner' | 'order'> & Partial<Pick<Chunk, 'after' | 'end'>>): Scan {
    const { equals, isDescending } = range.order
    const [owner, key] = this.#table.columns
    const info = this.#infoOf(range.order.index)
    const columns = info?.columns ?? []
    const rest = [...columns.slice(equals.length), key]
    const values: (IndexValue | Key)[] = [range.owner, ...equals]
    const isEqual = equals.map((_, at) => `${columns[at]} = $${at + 2}`)
    const conditions = [`${owner} = $1`, ...isEqual]
    const bounds = boundsOf(range)
    for (const bound of bounds) {
      const parameters = bound.values.map((_, at) => `$${values.length + at + 1}`)
      const bounded = rest.slice(0, parameters.length)
      conditions.push(`(${bounded.join(', ')}) ${bound.operator} (${parameters.join(', ')})`)
      values.push(...bound.values)
    }
    if (columns.length > 0) conditions.push(areIn(columns))
    const name = info?.name ?? this.#table.name
    const shape = [
      equals.length || '',
      isDescending ? 'd' : '',
      ...bounds.map(({ id }) => id),
    ].join('')
    const direction = isDescending ? ' DESC' : ''
    return { name, shape, where: conditions.join(' AND '), rest, direction, values }
  }

  /** @throws {Error} for an index that the table has not */
  #infoOf(index: StoredIndex | undefined): IndexInfo | undefined {
    if (index === undefined) return undefined
    const info = this.#table.indexes.find((info) => info.index === index)
    if (info === undefined) throw new Error(`${this.#table.name} has no index ${index.name}`)
    return info
  }

  #from(scan: Scan): string {
    return `FROM "${this.#table.name}" WHERE ${scan.where}`
  }

  /**
   * The rows of a chunk and the one after it, and whether each fits. Parameters: the most rows with
   * the one after, and the length in bytes.
   */
  #fitting(scan: Scan, next: number): string {
    const [, , item] = this.#table.columns
    const names = namesOf(scan)
    const columns = scan.rest.map((column, at) => `${column} AS ${names[at]}`).join(', ')
    const over = `OVER (ORDER BY ${orderOf(scan)})`
    return `(
          SELECT item, ${names.join(', ')}, row_number() ${over} < $${next}
            AND sum(octet_length(item)) ${over} - octet_length(item) < $${next + 1} AS fits
          FROM (SELECT ${item} AS item, ${columns} ${this.#from(scan)}
            ORDER BY ${orderBy(scan)} LIMIT $${next}) AS found
        )`
  }
}

/** The bounds of a range: its position is nearer than the bound of its order. */
function boundsOf({
  order,
  after,
  end,
}: { order: Order } & Partial<Pick<Chunk, 'after' | 'end'>>): Bound[] {
  const { from, to, equals, isDescending } = order
  const [first, last] = isDescending ? [end, after] : [after, end]
  const positionValues = ({ values, key }: Position) => [...values.slice(equals.length), key]
  const bounds: Bound[] = []
  if (first !== undefined) {
    const operator = isDescending ? '>=' : '>'
    bounds.push({ id: 'a', operator, values: positionValues(first) })
  } else if (from !== undefined) bounds.push({ id: 'f', operator: '>=', values: [from] })
  if (last !== undefined) {
    const operator = isDescending ? '<' : '<='
    bounds.push({ id: 'b', operator, values: positionValues(last) })
  } else if (to !== undefined) bounds.push({ id: 't', operator: '<', values: [to] })
  return bounds
}

/** The values and the key of the last row that fits. */
function lastOf(scan: Scan): string[] {
  const names = namesOf(scan)
  // Parsers of poolers know no arrays.
  if (names.length === 1)
    return [`${scan.direction === '' ? 'max' : 'min'}(key) FILTER (WHERE fits)`]
  const order = orderOf(scan)
  const count = 'count(*) FILTER (WHERE fits)'
  return names.map(
    (name) => `(array_agg(${name} ORDER BY ${order}) FILTER (WHERE fits))[(${count})::int]`,
  )
}

/** The names that a subquery gives the columns of an order. */
function namesOf({ rest }: Scan): string[] {
  return rest.map((_, at) => (at === rest.length - 1 ? 'key' : `value${at}`))
}

function orderOf(scan: Scan): string {
  return namesOf(scan)
    .map((name) => name + scan.direction)
    .join(', ')
}

function orderBy({ rest, direction }: Scan): string {
  return rest.map((column) => column + direction).join(', ')
}
