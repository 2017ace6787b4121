// The SQL statements for the rows of an owner by key or by an index, each prepared once.
import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite'
import type { IndexType, IndexValue, StoredIndex } from '@plant-store/engine/for-store'
import type { Position } from '../core/database.ts'
import { conditionOf, expressionOf, indexName } from './index-definition.ts'
import { type Search, toInput } from './searches.ts'
import { type ArrayRow, Statement, toKey } from './sql.ts'
import { columnsOf } from './table-definition.ts'

/** Some rows of a search: its first ones or, if descending, its last ones. */
export interface Query {
  readonly owner: string
  readonly search: Search
  readonly isDescending: boolean
  /** The most rows. */
  readonly count: number
}

/** A row has the item, the key, and the values of the index. */
const FIRST_VALUE = 2

export class OrderStatements {
  readonly #db: DatabaseSync
  readonly #types: readonly IndexType[]
  readonly #item: string
  /** The properties of the index and the key, as expressions. */
  readonly #places: readonly string[]
  /** The beginning of all conditions. */
  readonly #ofOwner: string
  readonly #prepared = new Map<string, Statement>()

  /** @param index absent: by key */
  constructor(db: DatabaseSync, table: string, index: StoredIndex | undefined) {
    const columns = columnsOf(db, table)
    const [owner, key, item] = columns
    const properties = index?.properties ?? []
    const values = properties.map((property) => expressionOf(columns, property))
    this.#db = db
    this.#types = properties.map(({ type }) => type)
    this.#item = item
    this.#places = [...values, key]
    const from = `FROM "${table}"`
    // SQLite uses this index or refuses the statement: no list reads a whole table.
    this.#ofOwner =
      index === undefined
        ? `${from} WHERE ${owner} = ?`
        : `${from} INDEXED BY ${indexName(table, index.name)} WHERE ${conditionOf(values)} AND ${owner} = ?`
  }

  rows(query: Query): readonly ArrayRow[] {
    const statement = this.#prepare('rows', query, () => this.#select(this.#item, query))
    return statement.rows(...parametersOf(query), query.count)
  }

  /** As `rows`, without the rows after a position. */
  rowsTo(end: Position, query: Query): readonly ArrayRow[] {
    const statement = this.#prepare('rows to', query, () => {
      const marks = this.#places.map(() => '?')
      const operator = query.isDescending ? '<' : '>'
      const isPast = `(${this.#places.join(', ')}) ${operator} (${marks.join(', ')})`
      return this.#select(this.#item, query, isPast)
    })
    const ends = [...end.values.map(toInput), end.key]
    const rows = statement.rows(...ends, ...parametersOf(query), query.count)
    const past = rows.findIndex((row) => row[FIRST_VALUE + this.#types.length] === 1n)
    return past === -1 ? rows : rows.slice(0, past)
  }

  /** The last one of `count` rows; undefined if there are fewer. Without its item. */
  skip(query: Query): ArrayRow | undefined {
    const statement = this.#prepare('skip', query, () => `${this.#select('NULL', query)} OFFSET +?`)
    return statement.get(...parametersOf(query), 1, query.count - 1)
  }

  /** The number of rows, at most `count`. */
  count(query: Query): number {
    const statement = this.#prepare(
      'count',
      query,
      () => `SELECT count(*) FROM (SELECT 1 ${this.#matching(query)} LIMIT +?)`,
    )
    return Number(statement.get(...parametersOf(query), query.count)?.[0])
  }

  positionOf(row: ArrayRow): Position {
    const values = this.#types.map((type, place) => toValue(type, row[FIRST_VALUE + place]))
    return { values, key: toKey(row[1]) }
  }

  #prepare(kind: string, { search, isDescending }: Query, text: () => string): Statement {
    const operators = search.map(({ operator }) => operator)
    const shape = [kind, isDescending, ...operators].join(' ')
    const prepared = this.#prepared.get(shape)
    if (prepared !== undefined) return prepared
    const statement = new Statement(this.#db, text())
    this.#prepared.set(shape, statement)
    return statement
  }

  #select(item: string, query: Query, ...more: readonly string[]): string {
    const values = this.#places.slice(0, -1)
    const columns = [item, ...this.#places.slice(-1), ...values, ...more]
    // SQLite sorts by no value that is the same in all rows.
    const equal = query.search.filter(({ operator }) => operator === '=').length
    const direction = query.isDescending ? ' DESC' : ''
    const sorted = this.#places.slice(equal).map((place) => `${place}${direction}`)
    // `+?` is a bare value to the planner: with `LIMIT ?`, SQLite would plan a statement anew for
    // each number.
    return `SELECT ${columns.join(', ')} ${this.#matching(query)} ORDER BY ${sorted.join(', ')} LIMIT +?`
  }

  #matching({ search }: Query): string {
    const conditions = search.map(({ place, operator }) => `${this.#places[place]} ${operator} ?`)
    return [this.#ofOwner, ...conditions].join(' AND ')
  }
}

function parametersOf({ owner, search }: Query): SQLInputValue[] {
  return [owner, ...search.map(({ value }) => value)]
}

function toValue(type: IndexType, value: SQLOutputValue | undefined): IndexValue {
  if (type === 'boolean') return value === 1n
  return typeof value === 'bigint' || typeof value === 'number' ? value : String(value)
}
