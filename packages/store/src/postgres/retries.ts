// Repeats failed statements, and tells by the error which may be repeated.
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { reasonOf, StoreUnavailable } from '@plant-store/engine/for-store'

export type StatementKind = 'read' | 'write'

/** The most attempts to run a statement. */
const MAX_TRIES = 5
/**
 * The most milliseconds before the second attempt. Before each later attempt, the wait may grow by
 * this much.
 */
const MAX_DELAY = 50

/** The statement was not sent, because there is no connection. */
export class NoConnection extends Error {
  override readonly name = 'NoConnection'

  constructor(cause: unknown) {
    // If all addresses of a name have failed, Node's error has no message.
    super(
      cause instanceof AggregateError ? cause.errors.map(reasonOf).join(', ') : reasonOf(cause),
      { cause },
    )
  }
}

/**
 * The outcome of a failed statement. `undone`: it may be repeated. `unknown`: it may be done, or
 * may still run. `refused`: the server can't run it now. After `unknown` the connection must not be
 * used again.
 */
type Outcome = 'undone' | 'unknown' | 'refused' | 'other'

/** Serialization failure, deadlock. */
const CONFLICT = /^(40001|40P01)$/
/** The connection is lost, the server takes no writes, or it shuts down. */
const LOST = /^(08|25006|40|57P)/
/** The server has lost its connection to another node, but not to its clients. */
const NODE_LOST = /^08/
/**
 * No such table, not permitted, by a constraint or a trigger, out of resources, locked, cancelled,
 * I/O error, not supported.
 */
const REFUSED = /^(42P01|42501|23|P0|53|55P03|57014|58|0A000)/
/** The refusals of a single statement. With other parameters it may succeed. */
const OF_STATEMENT = /^(42501|23|P0|53|55P03|57014|58|0A000)/
/** The wait for a lock took too long. */
const LOCKED = '55P03'
/**
 * A wait took too long, or was cancelled. Some servers bound the whole statement: `waitLimit` in
 * dialect.ts.
 */
const HELD_UP = /^(55P03|57014)$/
/** Another session has the name of a prepared statement. */
const UNPREPARED = /^(26000|42P05)$/
const NOT_SUPPORTED = '0A000'
/** With this routine of the server, 0A000 means an outdated plan of a prepared statement. */
const REPLAN = 'RevalidateCachedQuery'

export function classify(error: unknown): Outcome {
  if (error instanceof NoConnection) return 'undone'
  if (!(error instanceof pg.DatabaseError)) return 'unknown' // an error of the socket, or a timeout
  const code = errorCode(error)
  if (CONFLICT.test(code) || isUnprepared(error)) return 'undone'
  if (NODE_LOST.test(code) && error.severity === 'ERROR') return 'refused'
  if (LOST.test(code)) return 'unknown'
  return REFUSED.test(code) ? 'refused' : 'other'
}

/** Whether a statement needs a connection without plans: a new one. */
export function isUnprepared(error: unknown): boolean {
  return UNPREPARED.test(errorCode(error)) || isOutdated(error)
}

/** Whether the server can never run the statement. */
export function isUnsupported(error: unknown): boolean {
  return errorCode(error) === NOT_SUPPORTED && !isOutdated(error)
}

/** Whether a statement has waited for a lock too long. */
export function isLocked(error: unknown): boolean {
  return errorCode(error) === LOCKED
}

/** Whether a statement has waited too long for somebody else. */
export function isHeldUp(error: unknown): boolean {
  return HELD_UP.test(errorCode(error))
}

/**
 * Whether a transaction has failed because of one of its statements, so the others may be done
 * without it. The end of a server process, or a failed connection, fails all.
 */
export function isOfStatement(error: unknown): boolean {
  if (!(error instanceof StoreUnavailable)) return true
  const { cause } = error
  if (!(cause instanceof pg.DatabaseError)) return false
  const isEnd = cause.severity === 'FATAL' || cause.severity === 'PANIC'
  return !isEnd && OF_STATEMENT.test(errorCode(cause))
}

function isOutdated(error: unknown): boolean {
  return serverError(error)?.routine === REPLAN
}

/**
 * The code of the server's error, or of the error's cause; '' if there is none.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export function errorCode(error: unknown): string {
  return serverError(error)?.code ?? ''
}

/** The constraint or the unique index that refused a write. */
export function constraintOf(error: unknown): string | undefined {
  return serverError(error)?.constraint
}

/** The server's error: the error itself, or its cause. */
function serverError(error: unknown): pg.DatabaseError | undefined {
  if (error instanceof pg.DatabaseError) return error
  return error instanceof Error && error.cause !== undefined ? serverError(error.cause) : undefined
}

function canRepeat(kind: StatementKind, outcome: Outcome, error: unknown): boolean {
  if (outcome === 'undone') return true
  if (kind === 'write') return false
  return outcome === 'unknown' || isLocked(error) // nobody waits for a read that waits for a lock
}

/**
 * Runs a statement, and repeats it after a fault that allows it.
 * @param deadline for all attempts, on the clock of `performance.now()`
 * @throws {StoreUnavailable} for a fault that may be temporary
 */
export async function repeat<Value>(
  kind: StatementKind,
  deadline: number,
  run: () => Promise<Value>,
): Promise<Value> {
  for (let tries = 1; ; tries++) {
    try {
      return await run()
    } catch (error) {
      const outcome = classify(error)
      if (outcome === 'other') throw error
      const isFinal = !canRepeat(kind, outcome, error)
      const isLast = tries === MAX_TRIES || performance.now() >= deadline
      if (isFinal || isLast) throw new StoreUnavailable(reasonOf(error), { cause: error })
      const left = deadline - performance.now()
      await delay(Math.min(Math.random() * MAX_DELAY * tries, left))
    }
  }
}
