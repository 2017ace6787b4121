import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { reasonOf, StoreUnavailable } from '../../engine/errors.ts'

/** What a statement does. */
export type Kind = 'read' | 'write'

/** The most attempts to run a statement. */
const TRIES = 5

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
 * What an error means for its statement. `undone`: it may be repeated. `unknown`: it may be done, or may still run. `refused`:
 * the server can't run it now. After `unknown` the connection must not be used again.
 */
type Fault = 'undone' | 'unknown' | 'refused' | 'other'

export function classify(error: unknown): Fault {
  if (error instanceof NoConnection) return 'undone'
  if (!(error instanceof pg.DatabaseError)) return 'unknown' // an error of the socket, or a timeout
  const code = errorCode(error)
  if (/^(40001|40P01)$/.test(code) || isUnprepared(error)) return 'undone' // serialization failure, deadlock
  if (/^(08|25006|40|57P)/.test(code)) return 'unknown' // connection lost, read-only, the server shuts down
  if (/^(42P01|53|55P03|57014|58)/.test(code)) return 'refused' // no such table, out of resources, locked, cancelled, I/O
  return 'other'
}

/** Whether the plan of a prepared statement is outdated, or another session has its name: a new connection has no plans. */
export function isUnprepared(error: unknown): boolean {
  return /^(0A000|26000|42P05)$/.test(errorCode(error))
}

/**
 * The code of the server's error, or of the error's cause; '' if there is none.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export function errorCode(error: unknown): string {
  if (error instanceof pg.DatabaseError) return error.code ?? ''
  return error instanceof Error && error.cause !== undefined ? errorCode(error.cause) : ''
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
      const fault = classify(error)
      if (fault === 'other') throw error
      const isFinal = fault === 'refused' || (fault === 'unknown' && kind === 'write')
      if (isFinal || tries === TRIES || performance.now() >= deadline) {
        throw new StoreUnavailable(reasonOf(error), { cause: error })
      }
      await delay(Math.min(Math.random() * 50 * tries, deadline - performance.now()))
    }
  }
}
