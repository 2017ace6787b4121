// Reads the differences between servers with PostgreSQL's protocol, in the first session: Citus,
// YugabyteDB, CockroachDB, Aurora DSQL, and poolers.
//
// The statements in sql.ts work on all of them. For SPQR, no INSERT has an alias for its table, and
// there is no WINDOW clause.
import type pg from 'pg'
import { errorCode } from './retries.ts'

export interface Dialect {
  /** The type of strings compared by bytes. */
  readonly stringType: string
  /** The end of an expression whose strings are compared by bytes. */
  readonly collation: string
  /** Whether the server distributes tables over nodes: all rows of one owner are on one of them. */
  readonly isDistributed: boolean
  /** SQL before a statement that makes a table. */
  readonly beforeTable: string
  /** The plans of statements with a name: `plan_cache_mode`. */
  readonly plans: 'auto' | 'force_generic_plan'
  /**
   * The setting to end the wait of one statement for another, and its part of the time of an
   * operation.
   */
  readonly waitLimit: readonly [setting: 'lock_timeout' | 'statement_timeout', part: number]
  /** Whether any session sees the processes of all others. */
  readonly showsProcesses: boolean
}

type Query = (text: string) => Promise<pg.QueryResult<Readonly<Record<string, unknown>>>>

const DETECT = `SELECT version() AS product, to_regclass('pg_dist_partition') IS NOT NULL AS citus,
  to_regclass('sys.iam_pg_role_mappings') IS NOT NULL AS dsql`
/** In a YugabyteDB, making a table takes longer than a statement of an operation may. */
const ALLOW_A_MINUTE = 'SET LOCAL statement_timeout = 60000; '
/**
 * The error code for a row of an index that is too long. Aurora DSQL takes 1 KiB for owner and key
 * together.
 */
const TOO_LARGE = '54000'

async function readDialect(query: Query): Promise<Dialect> {
  const { rows } = await query(DETECT)
  const { product, citus, dsql } = rows[0] ?? {}
  const isCitus = citus === true
  const isYugabyte = String(product).includes('-YB-')
  // CockroachDB and Aurora DSQL compare all strings by bytes, and refuse this collation.
  const isOfBytes = String(product).includes('Cockroach') || dsql === true
  const collation = isOfBytes ? '' : ' COLLATE "C"'
  return {
    stringType: `TEXT${collation}`,
    collation,
    isDistributed: isCitus,
    beforeTable: isYugabyte ? ALLOW_A_MINUTE : '',
    plans: isCitus ? 'auto' : 'force_generic_plan', // Citus can't route a generic plan
    // In YugabyteDB, whose commits wait for a majority, `lock_timeout` does not bound the wait for
    // a lock.
    waitLimit: isYugabyte ? ['statement_timeout', 1 / 2] : ['lock_timeout', 1 / 10],
    // The next connection may lead to another node of a YugabyteDB, which knows nothing of this
    // process.
    showsProcesses: !isYugabyte,
  }
}

/** The dialect of a server, read once. */
export class DialectReader {
  #dialect: Dialect | undefined

  async read(query: Query): Promise<Dialect> {
    this.#dialect ??= await readDialect(query)
    return this.#dialect
  }

  /** @throws {Error} before the first session */
  get current(): Dialect {
    if (this.#dialect === undefined) throw new Error('no session has begun')
    return this.#dialect
  }
}

type Call = readonly [text: string, values: unknown[]]

/**
 * Distributes a table by a column, unless it is distributed. Citus runs a statement of one owner on
 * one node.
 */
export function distribute(table: string, column: string): Call {
  const text = `SELECT create_distributed_table($1, $2)
    WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = $1::regclass)`
  return [text, [table, column]]
}

/** Puts a table on each node of a Citus, unless it is there. */
export function putOnAllNodes(table: string): Call {
  const text = `SELECT create_reference_table($1)
    WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = $1::regclass)`
  return [text, [table]]
}

/** Whether the server refuses an entry of an index as too long: an owner, a key and values. */
export function isEntryTooLong(error: unknown): boolean {
  return errorCode(error) === TOO_LARGE
}

/**
 * The process named in the first message to a session. Poolers invent one; some servers name none.
 */
export function processOf(session: pg.Client): number {
  return 'processID' in session ? Number(session.processID) : 0
}
