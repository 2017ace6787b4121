import pg from 'pg'
import { reasonOf, StoreUnavailable } from '../../errors.ts'

/** The statement was not sent, because there is no connection. */
export class NoConnection extends Error {
  override readonly name = 'NoConnection'

  constructor(cause: unknown) {
    super(messageText(cause), { cause })
  }
}

/**
 * What an error means for its statement. `unknown`: it may be done, and the connection must not be used again. `refused`:
 * the server can't run it now. `unprepared`: it was not run, and must be prepared anew.
 */
export type Fault = 'unsent' | 'unprepared' | 'unknown' | 'conflict' | 'refused' | 'other'

export function classify(error: unknown): Fault {
  if (error instanceof NoConnection) return 'unsent'
  // An error of the socket, or a timeout: the statement may be done, or may still run.
  if (!(error instanceof pg.DatabaseError)) return 'unknown'
  const code = errorCode(error)
  if (code === '40001' || code === '40P01') return 'conflict' // serialization failure, deadlock: it was undone
  if (/^(08|25006|40|57P)/.test(code)) return 'unknown' // connection lost, read-only, the server shuts down
  if (/^(42P01|53|55P03|57014|58)/.test(code)) return 'refused' // no such table, out of resources, locked, cancelled, I/O
  if (/^(0A000|26000|42P05)$/.test(code)) return 'unprepared' // the plan is outdated, or another session has the name
  return 'other'
}

/**
 * The code of the server's error, or of the error's cause; '' if there is none.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export function errorCode(error: unknown): string {
  if (error instanceof pg.DatabaseError) return error.code ?? ''
  return error instanceof Error && error.cause !== undefined ? errorCode(error.cause) : ''
}

/** Whether another attempt to connect can't help: the credentials are wrong, or there is no such database. */
export function isFinal(error: unknown): boolean {
  return /^(28|3D)/.test(errorCode(error))
}

/** Throws StoreUnavailable for an error that may be temporary, and any other error unchanged. */
export function translate(error: unknown): never {
  if (classify(error) === 'other') throw error
  throw new StoreUnavailable(messageText(error), { cause: error })
}

// If all addresses of a name have failed, Node's error has no message of its own.
function messageText(error: unknown): string {
  return error instanceof AggregateError ? error.errors.map(reasonOf).join(', ') : reasonOf(error)
}
