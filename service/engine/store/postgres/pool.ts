import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { StoreUnavailable } from '../../errors.ts'
import type { Limits } from '../store.ts'
import { Connections, type Result, type Statement } from './connections.ts'
import { classify, translate } from './errors.ts'
import { BACKEND, type Session } from './session.ts'

/**
 * Runs one SQL statement.
 * @param name of a prepared statement. The server parses and plans it once for each connection, and never plans it anew: use
 * a name only if the primary key is the only sensible plan, however large the table is.
 * @param timeout milliseconds until it fails, repetitions included; `DATABASE_TIMEOUT` if absent
 */
export type Query = (text: string, values?: unknown[], name?: string, timeout?: number) => Promise<Result>

/** The most attempts to run a statement, by its fault. A read whose outcome is unknown is repeated. */
const WRITE_TRIES = { unsent: 2, unprepared: 5, unknown: 1, conflict: 5, refused: 1, other: 1 }
const TRIES = { read: { ...WRITE_TRIES, unknown: 2 }, write: WRITE_TRIES }

/** Milliseconds between two probes, while a connection is silent for longer. */
const PROBE_INTERVAL = 250
/** Milliseconds after which the network is away, if no probe was answered; and until those under way reach a connection. */
const AWAY = 1000
const GRACE = 250
/** Multiples of `timeout` after which an answer may be lost: the server would have ended a read. */
const LIMIT = 2
/** Asks whether the server has TLS: https://www.postgresql.org/docs/current/protocol-message-formats.html */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

/** The connections to PostgreSQL. Every wait has a bound. Errors that may be temporary become StoreUnavailable. */
export class Pool {
  readonly #address: pg.Client
  readonly #timeout: number
  /** Writes never take all connections, because they may wait for a standby. */
  readonly #writes: Connections
  readonly #reads: Connections
  readonly #kinds: Set<Connections>
  #isWatching = false
  #isAsking = false
  #ended: Promise<void> | undefined

  /**
   * @param url in libpq's format: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
   * @throws {Error} if the URL is not valid
   */
  constructor(url: string, { DATABASE_POOL_SIZE, DATABASE_TIMEOUT }: Limits) {
    const address = new URL(url)
    // `sslmode` must mean the same as in libpq.
    if (!address.searchParams.has('uselibpqcompat')) address.searchParams.set('uselibpqcompat', 'true')
    this.#address = new pg.Client(address.href)
    this.#timeout = DATABASE_TIMEOUT * 1000
    const writes = DATABASE_POOL_SIZE > 2 ? 2 : 1
    this.#writes = new Connections(address.href, 'write', writes, this.#timeout)
    const reads = DATABASE_POOL_SIZE - writes
    this.#reads = reads === 0 ? this.#writes : new Connections(address.href, 'read', reads, this.#timeout)
    this.#kinds = new Set([this.#writes, this.#reads])
  }

  /** Runs a statement that changes nothing. */
  readonly read: Query = (text, values = [], name, timeout = this.#timeout) =>
    this.#run({ kind: 'read', text, values, name }, timeout)

  /** Runs a statement that writes. It is done at most once. After StoreUnavailable it may be done or not. */
  readonly write: Query = (text, values = [], name, timeout = this.#timeout) =>
    this.#run({ kind: 'write', text, values, name }, timeout)

  /** How many reads can run at the same time, each on its own connection. */
  get parallelReads(): number {
    return this.#reads.figures.size
  }

  /** As in `Figures.pool`. */
  get figures(): Connections['figures'] {
    const all = [...this.#kinds].map(({ figures }) => figures)
    const sum = (name: keyof Connections['figures']) => all.reduce((total, figures) => total + figures[name], 0)
    const [size, used, idle] = [sum('size'), sum('used'), sum('idle')]
    return { size, used, idle, givenUp: sum('givenUp'), statements: sum('statements'), waiting: sum('waiting') }
  }

  /** Waits for the statements under way, up to the timeout, and closes all connections. May be called again. */
  end(): Promise<void> {
    return (this.#ended ??= this.#end())
  }

  async #end(): Promise<void> {
    const late = delay(this.#timeout, undefined, { ref: false })
    await Promise.race([Promise.all([...this.#kinds].map((each) => each.end())), late])
    for (const session of this.#sessions()) session.close()
  }

  async #run(statement: Statement, timeout: number): Promise<Result> {
    if (this.#ended) throw new StoreUnavailable('the store is closed')
    if (!this.#isWatching) void this.#watch()
    const connections = statement.kind === 'read' ? this.#reads : this.#writes
    const end = performance.now() + timeout
    for (let tries = 1; ; tries++) {
      try {
        return await connections.run(statement, Math.max(1, end - performance.now()))
      } catch (error) {
        if (tries >= TRIES[statement.kind][classify(error)] || performance.now() >= end) return translate(error)
        await delay(Math.random() * 50 * tries)
      }
    }
  }

  #sessions(): Session[] {
    return [...this.#kinds].flatMap(({ sessions }) => [...sessions])
  }

  /**
   * Closes connections whose answers the network lost: those that were silent while the network was away, when it is there
   * again, and those that are silent for longer than a server. Closes no connection whose server hangs: they would
   * add up there.
   */
  async #watch(): Promise<void> {
    this.#isWatching = true
    let answered = performance.now()
    let last = answered
    do {
      await delay(PROBE_INTERVAL, undefined, { ref: false })
      const now = performance.now()
      const silent = this.#sessions().filter((session) => session.heard() < now - PROBE_INTERVAL)
      // If this process did not run, it does not know.
      if (silent.length === 0 || now - last > 2 * PROBE_INTERVAL) answered = now
      last = now
      for (const session of silent) void this.#closeIfLost(session)
      if (silent.length === 0) continue
      void isAnswering(this.#address).then((isThere) => {
        const now = performance.now()
        if (!isThere) return
        if (now - answered > AWAY && now - last < 2 * PROBE_INTERVAL) void this.#closeSilent(now)
        answered = now
      })
    } while (this.#sessions().some(({ waitsFor }) => waitsFor !== undefined))
    this.#isWatching = false
  }

  /** Closes what was silent at a time, and still is. */
  async #closeSilent(time: number): Promise<void> {
    const silent = this.#sessions().filter((session) => session.heard() < time)
    await delay(GRACE, undefined, { ref: false })
    for (const session of silent) if (session.heard() < time) session.close()
  }

  /**
   * Closes a session that is silent for too long. A write may wait for a standby as long as it likes: asks the server
   * whether it does. If that can't be asked, TCP has to notice.
   */
  async #closeIfLost(session: Session): Promise<void> {
    const isLate = () => session.heard() < performance.now() - LIMIT * this.#timeout
    if (!isLate() || session.backend === undefined) return
    if (session.waitsFor !== 'read') {
      if (this.#isAsking || this.#reads === this.#writes) return
      this.#isAsking = true
      const text = `SELECT FROM pg_stat_activity WHERE ${BACKEND} = $1 AND state <> 'idle'`
      const asked = this.#reads.run({ kind: 'read', text, values: [session.backend] }, this.#timeout)
      const running = await asked.catch(() => undefined)
      this.#isAsking = false
      if (running?.rowCount !== 0 || !isLate()) return
    }
    session.close()
  }
}

/** Whether the server answers on a new connection. It does not count as a session. */
async function isAnswering({ host, port }: pg.Client): Promise<boolean> {
  const socket = host.startsWith('/') ? net.connect(`${host}/.s.PGSQL.${port}`) : net.connect(port, host)
  socket.unref().write(SSL_REQUEST)
  const answer = await once(socket, 'data', { signal: AbortSignal.timeout(AWAY) }).catch(() => undefined)
  socket.on('error', () => undefined).destroy()
  return answer !== undefined
}
