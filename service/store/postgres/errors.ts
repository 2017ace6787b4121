import pg from 'pg'
import { reasonOf, StoreUnavailable } from '../../errors.ts'

/** There is no connection for a statement: it was not sent. */
export class NoConnection extends Error {
  override readonly name = 'NoConnection'

  constructor(cause: unknown) {
    super(textOf(cause), { cause })
  }
}

/** What an error says about its statement. */
export type Fault = 'unsent' | 'unknown' | 'conflict' | 'refused' | 'other'

export function faultOf(error: unknown): Fault {
  if (error instanceof NoConnection) return 'unsent'
  // An error of the socket, or a timeout: the statement is done, or not, or still being done.
  if (!(error instanceof pg.DatabaseError)) return 'unknown'
  const code = codeOf(error)
  if (code === '40001' || code === '40P01') return 'conflict' // serialization failure, deadlock: it was undone
  if (/^(08|40|57P)/.test(code)) return 'unknown' // the connection or the server is going
  if (/^(25006|53|55P03|57014|58)/.test(code)) return 'refused' // read-only, out of resources, locked, cancelled, I/O
  return 'other'
}

/**
 * The code of the server's error, or of the error's cause; '' if there is none.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export function codeOf(error: unknown): string {
  if (error instanceof pg.DatabaseError) return error.code ?? ''
  return error instanceof Error && error.cause !== undefined ? codeOf(error.cause) : ''
}

/** Whether connecting again can't help: the credentials are wrong, or there is no such database. */
export function isFinal(error: unknown): boolean {
  return /^(28|3D)/.test(codeOf(error))
}

/** Throws StoreUnavailable for an error that may be temporary, and any other error unchanged. */
export function translate(error: unknown): never {
  if (faultOf(error) === 'other') throw error
  throw new StoreUnavailable(textOf(error), { cause: error })
}

// If all addresses of a name have failed, Node's error has no message of its own.
function textOf(error: unknown): string {
  return error instanceof AggregateError ? error.errors.map(reasonOf).join(', ') : reasonOf(error)
}
