// Tells temporary errors of SQLite from final ones.
/**
 * Primary result codes (https://sqlite.org/rescode.html) for "not now": BUSY, LOCKED, READONLY,
 * IOERR, FULL, CANTOPEN.
 */
const TEMPORARY = new Set<number | undefined>([5, 6, 8, 10, 13, 14])
const IOERR = 10
/** CORRUPT and NOTADB. */
const CORRUPT = new Set<number | undefined>([11, 26])
/**
 * IOERR_WRITE, _TRUNCATE, _NOMEM, _SHMOPEN, _SHMSIZE and _SHMMAP: synced data is not in doubt, and
 * the cause may pass. A used-up quota is an IOERR_WRITE, too.
 */
const MAY_PASS = new Set<number | undefined>(
  [3, 6, 12, 18, 19, 21].map((detail) => (detail << 8) | IOERR),
)

/** CONSTRAINT_UNIQUE. That of a primary key has another code. */
const NOT_UNIQUE = 2067
/** https://sqlite.org/src/doc/trunk/src/insert.c names an index of expressions, not its columns. */
const BROKEN_INDEX = /index '([^.]+)\.(.+)'$/

/** The index that a write would break, if the error says so. */
export function brokenIndex(
  error: unknown,
): { readonly collection: string; readonly index: string } | undefined {
  if (resultCode(error) !== NOT_UNIQUE) return undefined
  const [, collection, index] = BROKEN_INDEX.exec(String(error)) ?? []
  return collection === undefined || index === undefined ? undefined : { collection, index }
}

/** The message for an error that makes the store unusable; undefined for other errors. */
export function finalMessage(error: unknown): string | undefined {
  // SQLite reports a page as corrupt also if the disk could not read it.
  if (isCorrupt(error)) return 'the database is corrupt, or its disk fails'
  return primaryCode(error) !== IOERR || MAY_PASS.has(resultCode(error))
    ? undefined
    : 'I/O error of the store'
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

/** Whether a file is damaged, or is not a database. */
export function isCorrupt(error: unknown): boolean {
  return CORRUPT.has(primaryCode(error))
}

function resultCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) : undefined
}
