import { accessSync, closeSync, constants, existsSync, fsyncSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { readSync, statSync, writeSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { primaryCode } from './errors.ts'
import { SCHEMA, upgrade } from './schema.ts'
import { reasonOf, StartupError } from '../../errors.ts'

// Earlier ones can corrupt a WAL file that two connections write (https://sqlite.org/wal.html, "The WAL-reset bug").
const OLDEST_SQLITE = '3.51.3'

/** Milliseconds that a service waits for a visitor, which blocks its event loop; and that others wait, and all at the start. */
export const BUSY_TIMEOUT = 100
export const LONG_BUSY_TIMEOUT = 5000

/** A database file that is open. */
export interface OpenFile {
  /** Reads integers as `bigint`. */
  readonly db: DatabaseSync
  /** The lock of the owner, held until it is closed. A visitor has none. */
  readonly lock: DatabaseSync | undefined
  /** Whether there was no database in the file before. */
  readonly isNew: boolean
  /** Whether the paths of the database and its lock file still lead to the files that are open. */
  readonly isInPlace: () => boolean
}

/**
 * Opens a SQLite file in WAL mode with each commit synced (https://sqlite.org/pragma.html#pragma_synchronous). Makes the
 * file, or upgrades its schema, where needed.
 * @param sole whether to become the one process that owns the file; false for a visitor
 * @throws {StartupError}
 */
export function openSqlite(file: string, sole: boolean, schema = SCHEMA): OpenFile {
  let lock: DatabaseSync | undefined
  let db: DatabaseSync | undefined
  const path = resolve(file) // SQLite would take a relative one that begins with "file:" for a URI
  try {
    const version = process.versions['sqlite'] ?? ''
    if (version.localeCompare(OLDEST_SQLITE, 'en', { numeric: true }) < 0) {
      throw new Error(`this runtime has SQLite ${version}, and ${OLDEST_SQLITE} or later is needed`)
    }
    if (!existsSync(dirname(path))) makeFolder(dirname(path))
    db = new DatabaseSync(path, { readBigInts: true, timeout: LONG_BUSY_TIMEOUT })
    const location = String(db.location()) // without symbolic links
    assertWritable(location)
    assertOneName(location)
    if (sole) lock = acquireLock(location)
    const isNew = prepare(db, sole, schema) === 0
    const paths = [location, lockOf(location)]
    const opened = paths.map(identityOf)
    return { db, lock, isNew, isInPlace: () => paths.every((each, index) => identityOf(each) === opened[index]) }
  } catch (error) {
    const reason = reasonOf(primaryCode(error) === 14 ? (systemError(path) ?? error) : error) // CANTOPEN says no more
    db?.close()
    lock?.close()
    throw new StartupError(`DATABASE_URL sqlite:${file}: ${reason}`, { cause: error })
  }
}

// Beside the database, not on it, for the `token` command to be able to visit.
const lockOf = (path: string) => `${path}.lock`

/**
 * Becomes the one process that owns a database, until the lock is closed. The operating system frees it when the process
 * ends, however it ends.
 * @param path absolute, without symbolic links
 * @throws {Error} if another process is the owner
 */
export function acquireLock(path: string): DatabaseSync {
  const lock = new DatabaseSync(lockOf(path), { timeout: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    throw primaryCode(error) === 5 ? new Error('another process is using it', { cause: error }) : error
  }
}

/** Makes a folder that a power cut does not take away again. */
export function makeFolder(path: string): void {
  mkdirSync(path)
  sync(dirname(path))
}

/** Waits until a file, or the names in a folder, are on disk. Not for a database that is open: closing frees its locks. */
export function sync(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Refuses a database that has a second name, a hard link or a mount of the file alone: by each name SQLite keeps another
 * log, and processes that use different names would corrupt the file.
 * @param path absolute, without symbolic links
 * @throws {Error}
 */
export function assertOneName(path: string): void {
  const mounts = '/proc/self/mountinfo' // https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html
  const lines = existsSync(mounts) ? readFileSync(mounts, 'utf8').split('\n') : []
  const unescape = (text = '') =>
    text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)))
  const isMounted = lines.some((line) => unescape(line.split(' ')[4]) === path)
  if (isMounted || statSync(path).nlink > 1) {
    throw new Error('the file has another name, by a mount or a hard link: mount the folder, not the file')
  }
}

/** SQLite opens what it may not write for reading. @throws {Error} naming what must be writable and is not */
function assertWritable(path: string): void {
  const paths = [dirname(path), path, `${path}-wal`, `${path}-shm`, lockOf(path)]
  for (const each of paths.filter(existsSync)) accessSync(each, constants.W_OK)
}

/** What the operating system says when a file can't be opened: there are too many open files, for example. */
function systemError(path: string): unknown {
  const descriptors: number[] = []
  try {
    while (descriptors.length < 4) descriptors.push(openSync(path, 'a')) // as many as SQLite has for a database
    return undefined
  } catch (error) {
    return error
  } finally {
    descriptors.forEach((each) => closeSync(each))
  }
}

/** What a path leads to at the moment: a device and an inode, or nothing. */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev} ${found.ino}`
}

/**
 * Writes the log once more, as it is read. If the sync of a commit has failed in an earlier process, the system may show
 * what is not on the disk, and take it for written: what is added behind that would be lost with it.
 */
function rewriteLog(log: string): void {
  if (!existsSync(log)) return
  const file = openSync(log, 'r+')
  const part = Buffer.alloc(1 << 20)
  for (let at = 0, size; (size = readSync(file, part, 0, part.length, at)) > 0; at += size) {
    writeSync(file, part, 0, size, at)
  }
  fsyncSync(file)
  closeSync(file)
}

/** @returns the version of the schema before */
function prepare(db: DatabaseSync, sole: boolean, schema: readonly string[]): number {
  db.exec('PRAGMA synchronous = FULL; BEGIN IMMEDIATE')
  const version = upgrade(db, schema)
  // Nobody else writes to the log meanwhile.
  if (sole) rewriteLog(`${db.location()}-wal`)
  db.exec('COMMIT; PRAGMA journal_mode = WAL')
  // The errors of automatic checkpoints would not be told: the owner does them.
  if (sole) db.exec(`PRAGMA wal_autocheckpoint = 0; PRAGMA busy_timeout = ${BUSY_TIMEOUT}`)
  const set = db.prepare('SELECT journal_mode, synchronous FROM pragma_journal_mode, pragma_synchronous').get()
  if (set?.['journal_mode'] !== 'wal' || set['synchronous'] !== 2n) {
    throw new Error('the file system does not allow for safe writes')
  }
  return version
}
