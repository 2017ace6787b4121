// The indexes of a table: their columns as SQL, their names, and the statements that make and drop
// them.
import { createHash } from 'node:crypto'
import type {
  IndexedProperty,
  IndexType,
  IndexValue,
  StoredIndex,
} from '@plant-store/engine/for-store'
import type { Dialect } from './dialect.ts'

/** An index of a table. */
export interface IndexInfo {
  readonly index: StoredIndex
  /** Its name in the database. */
  readonly name: string
  /** Its expressions, one for each property. Each is null for an item that is not in the index. */
  readonly columns: readonly string[]
  /** Makes it while others write. */
  readonly create: string
  /** Makes it with its table. */
  readonly createNow: string
  /**
   * Renames it if it is invalid, so that a valid one is never dropped. It fails while another
   * process makes or drops an index of the table.
   */
  readonly putAside: string
  /** Drops the renamed one. */
  readonly drop: string
}

/** The table of an index. */
interface IndexedTable {
  readonly name: string
  readonly columns: readonly [owner: string, key: string, item: string]
}

/** The most characters before the digest: Citus adds the number of a shard, up to 63. */
const MAX_NAME = 40
const DIGEST_LENGTH = 8

/** The condition of the JSON path for a value of a type. */
const CONDITIONS: Readonly<Record<IndexType, string>> = {
  string: '@.type() == "string"',
  int64:
    '@.type() == "number" && @ % 1 == 0 && @ >= -9223372036854775808 && @ <= 9223372036854775807',
  number: '@.type() == "number"',
  boolean: '@.type() == "boolean"',
}

export function indexInfo(
  dialect: Pick<Dialect, 'collation'>,
  table: IndexedTable,
  index: StoredIndex,
): IndexInfo {
  const [owner, key, item] = table.columns
  const columns = index.properties.map((property) => columnOf(dialect, item, property))
  const kind = index.isUnique ? 'UNIQUE INDEX' : 'INDEX'
  const ordered = index.isUnique ? [owner, ...columns] : [owner, ...columns, key]
  const definition = `ON "${table.name}" (${ordered.join(', ')})`
  const name = nameOf(table.name, index.name, `${kind} ${definition}`)
  const invalid = `${name}_invalid`
  return {
    index,
    name,
    columns,
    create: `CREATE ${kind} CONCURRENTLY IF NOT EXISTS "${name}" ${definition}`,
    createNow: `CREATE ${kind} IF NOT EXISTS "${name}" ${definition}`,
    putAside: putAside(table.name, name, invalid),
    drop: `DROP INDEX CONCURRENTLY IF EXISTS "${invalid}"`,
  }
}

function putAside(table: string, name: string, invalid: string): string {
  return `DO $$ BEGIN
      LOCK TABLE "${table}" IN SHARE UPDATE EXCLUSIVE MODE NOWAIT;
      IF to_regclass('"${invalid}"') IS NULL AND EXISTS (
        SELECT FROM pg_index WHERE indexrelid = to_regclass('"${name}"') AND NOT indisvalid
      ) THEN
        ALTER INDEX "${name}" RENAME TO "${invalid}";
      END IF;
    END $$`
}

/**
 * The condition for a row to be in an index. It is no condition of the index itself: each write would evaluate
 * the expressions twice.
 */
export function areIn(columns: readonly string[]): string {
  return columns.map((column) => `${column} IS NOT NULL`).join(' AND ')
}

/** A changed definition is another index, so a new release and the previous one can run together. */
function nameOf(table: string, index: string, definition: string): string {
  const digest = createHash('sha256').update(`${index} ${definition}`).digest('hex')
  const name = `${table}_${index}`.replace(/\W/g, '_').slice(0, MAX_NAME)
  return `${name}_${digest.slice(0, DIGEST_LENGTH)}`
}

/**
 * The value of a property, or null if it has another type. It fails for no item: otherwise a start
 * or a write of another release could fail.
 */
function columnOf(
  { collation }: Pick<Dialect, 'collation'>,
  item: string,
  { path, type }: IndexedProperty,
): string {
  const steps = path.map((name) => ` -> ${quote(name)}`).join('')
  const filter = quote(`strict $ ? (${CONDITIONS[type]})`)
  const value = `jsonb_path_query_first((${withoutNul(item)}::json${steps})::jsonb, ${filter})`
  if (type === 'string') return `((${value} #>> '{}')${collation})`
  return `((${value})::${TYPES[type]})`
}

/** A numeric is exact, and takes any number of JSON. */
const TYPES = { int64: 'int8', number: 'numeric', boolean: 'boolean' } as const

/**
 * An item without U+0000, which PostgreSQL's JSON refuses in any string. Only the escape is
 * replaced: behind an even number of backslashes.
 */
function withoutNul(item: string): string {
  const pattern = String.raw`'(?<!\\)((?:\\\\)*)\\u0000', '\1\\u0001', 'g'`
  return String.raw`(CASE WHEN strpos(${item}, '\u0000') = 0 THEN ${item} ELSE regexp_replace(${item}, ${pattern}) END)`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** The value of a column, from the server's string. */
export function toValue(type: IndexType, text: string): IndexValue {
  if (type === 'int64') return BigInt(text)
  if (type === 'number') return Number(text)
  return type === 'boolean' ? text === 't' : text
}
