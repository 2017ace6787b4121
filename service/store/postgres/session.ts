import pg from 'pg'
import type { Row } from '../tokens.ts'

/** The server process of a connection. */
export interface Backend {
  readonly pid: number
  readonly started: string
}

export interface ConnectionOptions {
  readonly url: string
  /**
   * The server ends a read after `timeout`, and a write that waits for a lock after half of it. It must not end a write
   * that waits for a synchronous standby: the commit would be visible, but not safe.
   */
  readonly kind: 'reads' | 'snapshots' | 'writes'
  /** Milliseconds for an operation. */
  readonly timeout: number
  /** Asks over another connection whether a server process still runs. */
  readonly isRunning: (backend: Backend) => Promise<boolean>
}

/** Multiples of `timeout` after which the server closes an unused connection. */
export const SERVER_IDLE_TIMEOUT = 10

/**
 * Statements with a name are planned once, perhaps while the table is empty. With these settings that plan uses the primary
 * key, as it must when the table has grown. Such a plan expects to read a tenth of a caller's plants: the server would compile
 * (JIT) a statement that reads 20 of a million, for longer than it runs.
 */
const PLANS = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off', enable_bitmapscan: 'off', jit: 'off' }

/**
 * Checks that the server takes writes, and sets up the session.
 * @param wait milliseconds for each answer
 * @returns the server process; undefined behind a pooler, which shares it: then the session is not set up
 * @throws {Error} if the server takes no writes, or does not answer
 */
export async function prepareSession(
  client: pg.Client,
  { kind, timeout }: Pick<ConnectionOptions, 'kind' | 'timeout'>,
  wait: number,
): Promise<Backend | undefined> {
  const ask = async (text: string, values: unknown[] = []) => {
    const query = { text, values, query_timeout: wait }
    return (await client.query<Row>(query)).rows[0]
  }
  const readOnly = await ask('SHOW transaction_read_only')
  if (readOnly?.['transaction_read_only'] === 'on') throw new Error('the server takes no writes')
  const settings = {
    ...(kind === 'writes' ? { lock_timeout: timeout / 2 } : { statement_timeout: timeout }),
    idle_session_timeout: SERVER_IDLE_TIMEOUT * timeout,
    ...PLANS,
  }
  const pid = 'processID' in client ? Number(client.processID) : 0 // a pooler invents one
  const set = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', false)`)
  try {
    const backend = await ask(
      `SELECT extract(epoch FROM backend_start)::text AS started, ${set.join(', ')}
        FROM pg_stat_activity WHERE pid = pg_backend_pid() AND pid = $1`,
      [pid],
    )
    return backend && { pid, started: String(backend['started']) }
  } catch (error) {
    if (error instanceof pg.DatabaseError) return undefined // the engine does not have these settings
    throw error
  }
}
