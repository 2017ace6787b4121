import { closeSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs'
import { constants } from 'node:os'
import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Primary result codes (https://sqlite.org/rescode.html) that say "not now": BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN. */
const TEMPORARY = new Set<number | undefined>([5, 6, 8, 10, 13, 14])
const IOERR = 10
/** CORRUPT and NOTADB. */
const CORRUPT = new Set<number | undefined>([11, 26])
const IOERR_WRITE = (3 << 8) | IOERR
/** IOERR_TRUNCATE, _NOMEM, _SHMOPEN, _SHMSIZE and _SHMMAP: nothing on the disk is in doubt, and the cause may pass. */
const NO_DISK_FAULT = new Set<number | undefined>([6, 12, 18, 19, 21].map((detail) => (detail << 8) | IOERR))
const FAILED = 'I/O error of the store'

/**
 * The message for an error after which the store is not used any more; undefined for other errors.
 * @param sql what failed
 */
export function finalMessage(error: unknown, db: DatabaseSync, sql: () => unknown): Promise<string> | undefined {
  if (isCorrupt(error)) return explainCorrupt(String(db.location()), sql)
  const code = resultCode(error)
  if (primaryCode(error) !== IOERR || NO_DISK_FAULT.has(code)) return undefined
  return code === IOERR_WRITE && isOverQuota(String(db.location())) ? undefined : Promise.resolve(FAILED)
}

/** SQLite calls a page that the disk could not read corrupt, too. That passes at the second try, or the file can't be read. */
async function explainCorrupt(path: string, sql: () => unknown): Promise<string> {
  try {
    sql()
    return FAILED
  } catch {
    const isReadable = (await canRead(path)) && (await canRead(`${path}-wal`))
    return isReadable ? 'the database is corrupt' : FAILED
  }
}

/** Reads a whole file, in turns: requests are refused meanwhile. Not for a database that is used afterwards. */
async function canRead(path: string): Promise<boolean> {
  const part = Buffer.alloc(1 << 20)
  try {
    const file = openSync(path, 'r')
    for (let at = 0, size; (size = readSync(file, part, 0, part.length, at)) > 0; at += size) await nextTurn()
    closeSync(file)
    return true
  } catch {
    return false
  }
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
