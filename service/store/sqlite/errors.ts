import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { constants } from 'node:os'
import type { DatabaseSync } from 'node:sqlite'

/** Primary result codes (https://sqlite.org/rescode.html) that say "not now": BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN. */
const TEMPORARY = new Set<number | undefined>([5, 6, 8, 10, 13, 14])
const IOERR = 10
/** CORRUPT and NOTADB. */
const CORRUPT = new Set<number | undefined>([11, 26])
const IOERR_WRITE = (3 << 8) | IOERR
/** IOERR_NOMEM, _SHMOPEN, _SHMSIZE and _SHMMAP: the disk has no fault, and the cause may pass. */
const NO_DISK_FAULT = new Set<number | undefined>([12, 18, 19, 21].map((detail) => (detail << 8) | IOERR))

/** The message for an error after which the store is not used any more; undefined for other errors. */
export function finalMessage(error: unknown, db: DatabaseSync): string | undefined {
  if (isCorrupt(error)) return 'the database is corrupt'
  const code = resultCode(error)
  if (primaryCode(error) !== IOERR || NO_DISK_FAULT.has(code)) return undefined
  return code === IOERR_WRITE && isOverQuota(String(db.location())) ? undefined : 'I/O error of the store'
}

/** Whether the same statement may succeed later. */
export function isTemporary(error: unknown): boolean {
  // When the process ends, a slow request may find the store closed.
  const isClosed = error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE'
  return isClosed || TEMPORARY.has(primaryCode(error))
}

/** The primary result code of an error of SQLite, such as 5 for BUSY. */
export function primaryCode(error: unknown): number | undefined {
  const code = resultCode(error)
  return code && code & 0xff
}

/** Whether an error says that a file is damaged, or is not a database. */
export function isCorrupt(error: unknown): boolean {
  return CORRUPT.has(primaryCode(error))
}

function resultCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) : undefined
}

/**
 * Whether files can't grow: a quota is used up (EDQUOT), or their size is limited (EFBIG). SQLite reports both as an I/O
 * error, without the errno. To find out, this function writes some bytes to a new file, at the place where the log ends.
 */
function isOverQuota(path: string): boolean {
  const probe = `${path}.probe`
  const bytes = Buffer.alloc(8192)
  try {
    const end = Math.max(statSync(path).size, statSync(`${path}-wal`).size)
    const file = openSync(probe, 'w')
    try {
      return writeSync(file, bytes, 0, bytes.length, end) < bytes.length
    } finally {
      closeSync(file)
    }
  } catch (error) {
    const errno = error instanceof Error && 'errno' in error ? -Number(error.errno) : 0 // EDQUOT has no code in Node
    return [constants.errno.EDQUOT, constants.errno.EFBIG, constants.errno.ENOSPC].includes(errno)
  } finally {
    rmSync(probe, { force: true })
  }
}
