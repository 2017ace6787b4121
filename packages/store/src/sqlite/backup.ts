// Saves, restores and checks copies of the database file.
import { createHash } from 'node:crypto'
import { closeSync, createReadStream, existsSync, fchmodSync, fsyncSync, lstatSync } from 'node:fs'
import {
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { isCorrupt, primaryCode } from './result-codes.ts'
import { BUSY_TIMEOUT } from './file.ts'
import { acquireLock, assertOneName, lockPath } from './lock.ts'
import { assertNoLinks, assertNoLinksOfOthers, copyBytes, giveTo, LOGS } from './private-files.ts'
import { makeFile, makeFolder, OWNER_ONLY, sync } from './private-files.ts'
import { readVersion, storedTables } from './create-tables.ts'

/** The number of rows of a copy, by the names of its tables. */
export type Counts = Readonly<Record<string, number>>

/** The file with the checksum of a backup, in the format of `sha256sum`. */
const checksumPath = (backup: string) => `${backup}.sha256`
/** An incomplete copy, renamed when it is complete. */
const partPath = (path: string) => `${path}.part`

/**
 * Saves a copy of a database and its checksum. The database may be in use. The copy shows one
 * moment, after every write acknowledged so far.
 * @param to the path of the copy. The file appears when it is complete and on disk
 * @throws {Error} if `to` already exists, or the copy is damaged, or another process is copying
 * this database to this path
 */
export async function saveBackup(database: string, to: string): Promise<Counts> {
  if (lookAt(to)) throw new Error(`${to} already exists`)
  const from = realpathSync(database)
  assertOneName(from)
  const target = placeOf(to)
  // A killed copy leaves its file, which the next copy to this folder removes.
  const part = partPath(join(dirname(target), basename(from)))
  assertNoLinks(from, checksumPath(target))
  return withPart(part, async (descriptor) => {
    vacuumInto(from, part)
    const counts = checkBackup(part)
    const mode = permissionsOf(statSync(from))
    fchmodSync(descriptor, mode)
    fsyncSync(descriptor)
    saveChecksum(target, await sha256(part), mode)
    renameSync(part, target)
    sync(dirname(target))
    return counts
  })
}

/**
 * Replaces a database by a backup, while no service uses it. After an interruption, either the old
 * or the new database is there, complete. The file keeps its mode and owner; a new file can be used
 * only by the current user.
 * @param replace whether to replace an existing database
 * @returns also whether the backup was compared with a checksum
 * @throws {Error} if a service uses the database, if it exists without `replace`, if the backup is
 * not sound, or if a link leads elsewhere; the database is then unchanged
 */
export async function restoreBackup(
  backup: string,
  database: string,
  replace: boolean,
): Promise<{ counts: Counts; hasChecksum: boolean }> {
  assertOneFile(backup)
  await checkCopy(backup, backup) // first: a damaged backup must leave no new file
  const folder = dirname(resolve(database))
  assertNoLinksOfOthers(folder)
  if (!existsSync(folder)) makeFolder(folder)
  const path = placeOf(database)
  if (lookAt(path)?.isFile()) assertOneName(path)
  assertNoLinks(path, lockPath(path))
  using _lock = acquireLock(path, lookAt(path))
  const old = lookAt(path)
  if (old && !replace) throw new Error(`${database} already exists: --replace overwrites it`)
  const part = partPath(path)
  return await withPart(part, async (descriptor) => {
    copyFile(backup, descriptor)
    const checked = await checkCopy(backup, part) // another file may have got the name of the backup meanwhile
    if (old) giveTo(descriptor, old)
    fchmodSync(descriptor, permissionsOf(old) | OWNER_ONLY)
    fsyncSync(descriptor)
    using _old = old && closeLog(path)
    // The old log belongs to the replaced database, or SQLite can't read it.
    for (const end of LOGS) rmSync(path + end, { force: true })
    sync(dirname(path)) // else a power cut could leave the new database with the old log
    renameSync(part, path)
    sync(dirname(path))
    return checked
  })
}

/** Does not follow a link. */
function lookAt(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}

/**
 * The path of a file, the links of its folder resolved. @throws {Error} if root would follow a link
 * of another user
 */
function placeOf(file: string): string {
  const folder = dirname(resolve(file))
  assertNoLinksOfOthers(folder)
  return join(realpathSync(folder), basename(file))
}

/**
 * Makes a file to work on. It is removed in the end, unless it was renamed. @param fill gets its
 * descriptor
 */
async function withPart<Value>(
  part: string,
  fill: (descriptor: number) => Value | Promise<Value>,
): Promise<Value> {
  assertNoLinks(part, lockPath(part))
  using _lock = acquireLock(part)
  try {
    removeCopy(part)
    const descriptor = makeFile(part)
    try {
      return await fill(descriptor)
    } finally {
      closeSync(descriptor)
    }
  } finally {
    removeCopy(part)
    rmSync(lockPath(part), { force: true })
  }
}

/**
 * Copies a database in one read transaction, which blocks no writer. The copy has no write-ahead
 * log.
 */
function vacuumInto(from: string, to: string): void {
  using source = new DatabaseSync(from, { readOnly: true, timeout: BUSY_TIMEOUT })
  readVersion(source)
  source.prepare('VACUUM INTO ?').run(to)
}

function removeCopy(part: string): void {
  for (const end of ['', '-journal']) rmSync(part + end, { force: true })
}

/**
 * Copies the log of a database into its file, and locks the file, which then is the whole database.
 * @returns the lock; undefined if SQLite can't read the database
 * @throws {Error} if another process uses it
 */
function closeLog(path: string): DatabaseSync | undefined {
  assertNoLinks(path) // again: a link may have been made during the copy
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT })
  try {
    db.exec('PRAGMA synchronous = FULL; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE')
    return db
  } catch (error) {
    db.close()
    if (isCorrupt(error)) return undefined
    if (primaryCode(error) === 5) throw new Error('another process is using it', { cause: error })
    throw error
  }
}

/**
 * Refuses a backup with other files beside it, or reached by root through another user's link.
 * @throws {Error} naming the path
 */
function assertOneFile(backup: string): void {
  assertNoLinksOfOthers(resolve(backup))
  const checksums = [checksumPath(backup)].filter(existsSync)
  for (const path of [backup, ...checksums]) {
    if (!statSync(path).isFile()) throw new Error(`${path} is not a file`)
  }
  for (const log of [`${backup}-wal`, `${backup}-journal`]) {
    const { size = 0 } = statSync(log, { throwIfNoEntry: false }) ?? {}
    if (size > 0) throw new Error(`${log} is beside it: a backup is one file, as \`save\` makes it`)
  }
}

/** Checks the copy of a backup, or the backup itself. @throws {Error} if it is not sound */
async function checkCopy(backup: string, copy: string) {
  const hasChecksum = await compareChecksum(backup, copy)
  return { counts: checkBackup(copy), hasChecksum }
}

/**
 * Compares the copy of a backup with its checksum, if there is one. @returns whether there is one
 * @throws {Error} if they differ
 */
async function compareChecksum(backup: string, copy: string): Promise<boolean> {
  const path = checksumPath(backup)
  if (!existsSync(path)) return false
  if (readFileSync(path, 'utf8').startsWith(await sha256(copy))) return true
  throw new Error(`${backup} has changed since it was saved: its SHA-256 is not the one in ${path}`)
}

function saveChecksum(backup: string, sum: string, mode: number): void {
  const path = checksumPath(backup)
  rmSync(path, { force: true }) // the checksum of an earlier backup, which is gone
  const descriptor = makeFile(path)
  try {
    writeFileSync(descriptor, `${sum}  ${basename(backup)}\n`)
    fchmodSync(descriptor, mode)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** The permission bits of a mode; none without a file. */
function permissionsOf({ mode }: { readonly mode: number } = { mode: 0 }): number {
  return mode & 0o777
}

function copyFile(from: string, to: number): void {
  const descriptor = openSync(from, 'r')
  try {
    copyBytes(descriptor, to)
  } finally {
    closeSync(descriptor)
  }
}

/** Reads a whole database, which may be in use. @throws {Error} if it is not sound */
export function checkDatabase(file: string): Counts {
  assertNoLinks(realpathSync(file))
  using db = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT })
  return check(db)
}

/** Reads a whole backup: one file, which nobody writes. @throws {Error} if it is not sound */
function checkBackup(file: string): Counts {
  const url = pathToFileURL(file)
  url.searchParams.set('immutable', '1') // SQLite then makes no file beside it: https://sqlite.org/uri.html#uriimmutable
  using db = new DatabaseSync(url, { readOnly: true })
  return check(db)
}

function check(db: DatabaseSync): Counts {
  // The schema first: the check of the content would run code written into the schema by another
  // program.
  if (readVersion(db) === 0) throw new Error('the database is empty')
  // https://sqlite.org/pragma.html#pragma_integrity_check
  const lines = db
    .prepare('PRAGMA integrity_check(10)')
    .all()
    .map(({ integrity_check }) => String(integrity_check))
  if (lines[0] !== 'ok') throw new Error(`the database is damaged: ${lines.join('; ')}`)
  const count = (name: string) =>
    Number(db.prepare(`SELECT count(*) AS count FROM "${name}"`).get()?.['count'])
  return Object.fromEntries(storedTables(db).map((name) => [name, count(name)]))
}

/** In hexadecimal digits. */
async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const bytes of createReadStream(file)) hash.update(bytes as Buffer)
  return hash.digest('hex')
}
