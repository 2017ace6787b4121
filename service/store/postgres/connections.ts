import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Row } from '../rows.ts'
import { reasonOf, StoreUnavailable } from '../../errors.ts'
import type { Limits } from '../store.ts'

/** Runs one SQL statement. */
export type Query = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>

/** A connection for one user alone. */
export interface Session {
  readonly query: Query
  readonly close: () => void
}

/** So many times a statement may be undone in favour of others. */
const MOST_CONFLICTS = 5

/** The connections to PostgreSQL. Every wait has a bound; what may go better later fails with StoreUnavailable. */
export class Connections {
  readonly #pool: pg.Pool
  readonly #timeout: number
  /** One for writes alone: what is sent behind a write waits for its commit. */
  readonly #writes: Lane
  readonly #reads: readonly Lane[]
  #ended: Promise<unknown> | undefined

  /**
   * @param url as libpq has it: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
   * @param sessions how many there may be at a time, beside `DATABASE_POOL_SIZE`
   * @throws {Error} for a URL that can't be followed
   */
  constructor(url: string, { DATABASE_POOL_SIZE, DATABASE_TIMEOUT }: Limits, sessions: number) {
    const address = new URL(url)
    // With it `sslmode` means what it means to libpq.
    if (!address.searchParams.has('uselibpqcompat')) address.searchParams.set('uselibpqcompat', 'true')
    new pg.Client(address.href) // throws for what the pool would find out when it connects
    this.#timeout = DATABASE_TIMEOUT * 1000
    this.#pool = new pg.Pool({
      connectionString: address.href,
      max: DATABASE_POOL_SIZE + sessions,
      connectionTimeoutMillis: this.#timeout / 2, // so that there is time for a second try
      idleTimeoutMillis: 30_000,
      keepAlive: true,
      pipeline: true,
    })
    // A lost connection leaves the pool by itself, but without a listener it would end the process.
    this.#pool.on('error', () => undefined)
    this.#pool.on('connect', (client) => {
      client.on('error', () => undefined)
      client.on('notice', ({ routine }) => routine === 'SyncRepWaitForLSN' && unsafe.add(client))
    })
    this.#writes = new Lane(this.#pool)
    this.#reads = Array.from({ length: DATABASE_POOL_SIZE - 1 }, () => new Lane(this.#pool))
  }

  /** Runs a statement that changes nothing. */
  read(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.#retry('read', this.#timeout, (timeout) => {
      const [lane = this.#writes] = this.#reads.toSorted((one, two) => one.users - two.users)
      return lane.query(text, values, timeout)
    })
  }

  /** Runs a statement, once: if it fails with StoreUnavailable it may be done or not. */
  write(text: string, values: readonly unknown[] = [], timeout = this.#timeout): Promise<readonly Row[]> {
    return this.#retry('write', timeout, (timeout) => this.#writes.query(text, values, timeout))
  }

  /** Runs a statement that may take long, as `write` does, but nothing waits behind it. */
  writeApart(text: string, timeout: number): Promise<readonly Row[]> {
    return this.#retry('write', timeout, (timeout) => new Lane(this.#pool).query(text, [], timeout))
  }

  /** A connection on which a transaction is begun. @param begin the statements that begin it; they change nothing */
  session(begin: string): Promise<Session> {
    return this.#retry('read', this.#timeout, async (timeout) => {
      const client = await connect(this.#pool)
      let isBroken = false
      const run = (text: string, values: readonly unknown[], timeout: number) =>
        send(client, text, values, timeout).catch((error: unknown) => {
          isBroken = true
          throw error
        })
      const close = () => client.release(isBroken)
      await run(begin, [], timeout).catch((error: unknown) => {
        close()
        throw error
      })
      return {
        query: (text, values = []) => run(text, values, this.#timeout).catch(unavailable),
        close,
      }
    })
  }

  /** How many there may be, are in use, are kept, and are waited for. */
  get figures() {
    const { options, totalCount, idleCount, waitingCount } = this.#pool
    return { size: options.max, used: totalCount - idleCount, idle: idleCount, waiting: waitingCount }
  }

  /** Waits for what was begun, with a bound. It may be repeated. */
  end(): Promise<unknown> {
    return (this.#ended ??= Promise.race([this.#pool.end(), delay(this.#timeout, undefined, { ref: false })]))
  }

  async #retry<Value>(kind: 'read' | 'write', timeout: number, attempt: (timeout: number) => Promise<Value>) {
    const end = performance.now() + timeout
    for (let tries = 1; ; tries++) {
      try {
        return await attempt(Math.max(1, end - performance.now()))
      } catch (error) {
        const fault = faultOf(error)
        const most = { unsent: 2, unknown: kind === 'read' ? 2 : 1, conflict: MOST_CONFLICTS, refused: 1, other: 1 }[
          fault
        ]
        if (tries >= most || performance.now() >= end) return unavailable(error)
        await delay(Math.random() * 50 * tries)
      }
    }
  }
}

/** A connection that is shared by all who have statements for it at the same time. */
class Lane {
  readonly #pool: pg.Pool
  #lease: { readonly client: Promise<pg.PoolClient>; users: number; isBroken: boolean } | undefined

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  /** How many statements are under way. */
  get users(): number {
    return this.#lease?.users ?? 0
  }

  async query(text: string, values: readonly unknown[], timeout: number): Promise<readonly Row[]> {
    const lease = (this.#lease ??= { client: connect(this.#pool), users: 0, isBroken: false })
    lease.users += 1
    try {
      return await send(await lease.client, text, values, timeout)
    } catch (error) {
      const fault = faultOf(error)
      if (fault !== 'conflict' && fault !== 'other') lease.isBroken = true
      throw error
    } finally {
      lease.users -= 1
      if ((lease.isBroken || lease.users === 0) && this.#lease === lease) this.#lease = undefined
      if (lease.users === 0) {
        lease.client.then(
          (client) => client.release(lease.isBroken),
          () => undefined,
        )
      }
    }
  }
}

class NoConnection extends Error {
  override readonly name = 'NoConnection'
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  return pool.connect().catch((error: unknown) => {
    throw new NoConnection(textOf(error), { cause: error })
  })
}

/**
 * Connections whose last commits may not be safe: the server goes on as if they were when an administrator cancels its
 * wait for a synchronous standby, and says so in a warning only.
 */
const unsafe = new WeakSet<pg.ClientBase>()

async function send(client: pg.ClientBase, text: string, values: readonly unknown[], timeout: number) {
  // Not by the server's `statement_timeout`: that is of the session, and would cancel the wait just mentioned.
  const query = { text, values: [...values], query_timeout: timeout }
  const { rows } = await client.query<Row>(query)
  if (unsafe.has(client)) throw new Error('the wait for a synchronous standby was cancelled')
  return rows
}

type Fault = 'unsent' | 'unknown' | 'conflict' | 'refused' | 'other'

/** What an error says about its statement. */
function faultOf(error: unknown): Fault {
  if (error instanceof NoConnection) return 'unsent'
  // An error of the socket, or a timeout: the statement is done, or not, or still being done.
  if (!(error instanceof pg.DatabaseError)) return 'unknown'
  // https://www.postgresql.org/docs/current/errcodes-appendix.html
  const { code = '' } = error
  if (code === '40001' || code === '40P01') return 'conflict' // serialization failure, deadlock: it was undone
  if (/^(08|40|57P)/.test(code)) return 'unknown' // the connection or the server is going
  if (/^(25006|53|55P03|57014|58)/.test(code)) return 'refused' // read-only, out of resources, locked, cancelled, I/O
  return 'other'
}

/** Whether trying again to connect will not help: the credentials are wrong, or there is no such database. */
export function isFinal(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return /^(28|3D)/.test(error.code ?? '')
  return error instanceof Error && isFinal(error.cause)
}

function unavailable(error: unknown): never {
  if (faultOf(error) === 'other') throw error
  throw new StoreUnavailable(textOf(error), { cause: error })
}

// Node tries all addresses of a name, and says nothing itself when all have failed.
function textOf(error: unknown): string {
  return error instanceof AggregateError ? error.errors.map(reasonOf).join(', ') : reasonOf(error)
}
