import { failure } from '../store.ts'
import { StoreUnavailable } from '../../errors.ts'

/** Primary result codes that say "not now": BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN. */
const UNAVAILABLE = new Set<number | undefined>([5, 6, 8, 10, 13, 14])

/** The primary result code of an error of SQLite (https://sqlite.org/rescode.html), such as 5 for BUSY. */
export function primaryCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined
}

/**
 * Whether an error is a fault of the disk (https://sqlite.org/rescode.html#ioerr), and not of the memory, or of the
 * file for shared memory, which a full disk or too many open files may cause, and which need not last.
 */
export function isDiskFault(error: unknown): boolean {
  return primaryCode(error) === 10 && error instanceof Error && 'errcode' in error && !OTHERS.has(Number(error.errcode))
}

/** SQLITE_IOERR_NOMEM, _SHMOPEN, _SHMSIZE and _SHMMAP. */
const OTHERS = new Set([12, 18, 19, 21].map((detail) => (detail << 8) | 10))

/** Runs SQL. @throws {StoreUnavailable} for what may go better later */
export function available<Value>(run: () => Value): Value {
  if (failure.signal.aborted) throw new StoreUnavailable('there was an I/O error', { cause: failure.signal.reason })
  try {
    return run()
  } catch (error) {
    if (isDiskFault(error)) failure.abort(error)
    // When the process ends, the store is closed to requests that have taken too long.
    const isClosed = error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE'
    if (!isClosed && !UNAVAILABLE.has(primaryCode(error))) throw error
    throw new StoreUnavailable(String(error), { cause: error })
  }
}
