import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { reasonOf, StoreUnavailable } from '../../engine/errors.ts'

/** The kind of a statement. */
export type Kind = 'read' | 'write'

/** The most attempts to run a statement. */
const MAX_TRIES = 5
/** The most milliseconds before the second attempt. Before each later attempt, the wait may grow by this much. */
const MAX_DELAY = 50

/** The statement was not sent, because there is no connection. */
export class NoConnection extends Error {
  override readonly name = 'NoConnection'

  constructor(cause: unknown) {
    // If all addresses of a name have failed, Node's error has no message of its own.
    super(
      cause instanceof AggregateError ? cause.errors.map(reasonOf).join(', ') : reasonOf(cause),
      { cause },
    )
  }
}

/**
 * The outcome of a statement that failed. `undone`: it may be repeated. `unknown`: it may be done, or may still run. `refused`:
 * the server can't run it now. After `unknown` the connection must not be used again.
 */
type Outcome = 'undone' | 'unknown' | 'refused' | 'other'

/** Serialization failure, deadlock. */
const CONFLICT = /^(40001|40P01)$/
/** The connection is lost, the server takes no writes, or it shuts down. */
const LOST = /^(08|25006|40|57P)/
/** The server has lost its connection to another node. Its own clients stay. */
const NODE_LOST = /^08/
/** No such table, out of resources, locked, cancelled, I/O error, not supported. */
const REFUSED = /^(42P01|53|55P03|57014|58|0A000)/
/** Another session has the name of a prepared statement. */
const UNPREPARED = /^(26000|42P05)$/
const NOT_SUPPORTED = '0A000'
/** The function of the server that says 0A000 of a prepared statement whose plan is outdated. */
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

/** Whether the server can't run the statement, whenever it is sent. */
export function isUnsupported(error: unknown): boolean {
  return errorCode(error) === NOT_SUPPORTED && !isOutdated(error)
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

/** The server's error: the error itself, or its cause. */
function serverError(error: unknown): pg.DatabaseError | undefined {
  if (error instanceof pg.DatabaseError) return error
  return error instanceof Error && error.cause !== undefined ? serverError(error.cause) : undefined
}

/**
 * Runs a statement. Repeats it after a fault that allows it.
 * @param deadline when it fails, on the clock of `performance.now()`
 * @throws {StoreUnavailable} for a fault that may be temporary
 */
export async function repeat<Value>(
  kind: Kind,
  deadline: number,
  run: () => Promise<Value>,
): Promise<Value> {
  for (let tries = 1; ; tries++) {
    try {
      return await run()
    } catch (error) {
      const outcome = classify(error)
      if (outcome === 'other') throw error
      const mayBeDone = outcome === 'unknown' && kind === 'write'
      const isFinal = outcome === 'refused' || mayBeDone
      const isLast = tries === MAX_TRIES || performance.now() >= deadline
      if (isFinal || isLast) throw new StoreUnavailable(reasonOf(error), { cause: error })
      const left = deadline - performance.now()
      await delay(Math.min(Math.random() * MAX_DELAY * tries, left))
    }
  }
}
