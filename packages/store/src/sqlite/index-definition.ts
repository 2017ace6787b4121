// Defines an index: the properties of an item as expressions on its JSON.
import type { IndexedProperty, IndexType, StoredIndex } from '@plant-store/engine/for-store'
import type { Columns } from './table-definition.ts'

/** The types of JSON values, and the expression for each: https://sqlite.org/json1.html#jtype */
const CASES: Readonly<Record<IndexType, (value: string) => string>> = {
  string: (value) => `WHEN 'text' THEN ${value}`,
  int64: (value) => `WHEN 'integer' THEN CAST(${value} AS INTEGER)`,
  number: (value) => `WHEN 'real' THEN ${value} WHEN 'integer' THEN CAST(${value} AS REAL)`,
  boolean: () => `WHEN 'true' THEN 1 WHEN 'false' THEN 0`,
}
const TYPES: Readonly<Record<string, IndexType>> = {
  text: 'string',
  integer: 'int64',
  real: 'number',
  true: 'boolean',
}
/** The path of a property in a definition, and the first type of its values. */
const PROPERTY = /CASE json_type\(\w+, ('(?:[^']|'')*')\) WHEN '(text|integer|real|true)'/g
const HEAD = /^CREATE (UNIQUE )?INDEX "((?:[^"]|"")*)" ON "(\w+)"/

/** A table: its name, and the names of its columns. */
export interface IndexedTable {
  readonly name: string
  readonly columns: Columns
}

/** The name of an index in the file. A table has no dot in its name. */
export function indexName(table: string, index: string): string {
  return quoteName(`${table}.${index}`)
}

/** The statement that makes an index. It has no row for an item without one of the properties. */
export function defineIndex({ name, columns }: IndexedTable, index: StoredIndex): string {
  const expressions = index.properties.map((property) => expressionOf(columns, property))
  const head = `CREATE ${index.isUnique ? 'UNIQUE ' : ''}INDEX ${indexName(name, index.name)} ON "${name}"`
  return define(head, columns, expressions)
}

/**
 * The values of a property, as an expression of SQL: strings, integers or doubles, and 1 or 0 for
 * booleans. NULL in place of a value of another type.
 */
export function expressionOf([, , item]: Columns, { path, type }: IndexedProperty): string {
  const steps = path.map((name) => `.${JSON.stringify(name)}`)
  return expression(item, quoteString(`$${steps.join('')}`), type)
}

/** The condition for the rows of an index. SQLite uses it for a query with the same condition. */
export function conditionOf(expressions: readonly string[]): string {
  return expressions.map((value) => `${value} IS NOT NULL`).join(' AND ')
}

/** The name of the table of an index, if `defineIndex` can have made the statement. */
export function tableOfIndex(sql: string): string | undefined {
  return HEAD.exec(sql)?.[3]
}

/** Whether a statement is one of `defineIndex`, for any product. */
export function isIndexDefinition(sql: string, columns: Columns): boolean {
  const [head] = HEAD.exec(sql) ?? []
  const values = [...sql.matchAll(PROPERTY)].map(([, path = '', type = '']) =>
    expression(columns[2], path, TYPES[type] ?? 'string'),
  )
  // Each is there twice: as a column, and in the condition.
  const expressions = values.slice(0, values.length / 2)
  return head !== undefined && define(head, columns, expressions) === sql
}

function define(head: string, [owner, key, item]: Columns, expressions: readonly string[]): string {
  // With the items, a page costs as much as by key, also in a large file. A unique index finds one
  // item at a time, and SQLite adds the key to it by itself.
  const last = head.startsWith('CREATE UNIQUE') ? [] : [key, item]
  return `${head} (${[owner, ...expressions, ...last].join(', ')}) WHERE ${conditionOf(expressions)}`
}

function expression(item: string, path: string, type: IndexType): string {
  return `CASE json_type(${item}, ${path}) ${CASES[type](`json_extract(${item}, ${path})`)} END`
}

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function quoteString(value: string): string {
  return `'${value.replaceAll("'", "''")}'`
}
