// Opens and closes the database file.
import { accessSync, closeSync, constants, existsSync, fsyncSync, lstatSync } from 'node:fs'
import { openSync, readlinkSync, realpathSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { acquireLock, assertNotMoved, assertOneName, lockPath } from './lock.ts'
import { assertNoLinks, copyBytes, makeFileIfAbsent, makeFolder } from './private-files.ts'
import { updateIndexes } from './create-indexes.ts'
import { isOutdated, prepareSchema } from './create-tables.ts'
import { reasonOf, StartupError } from '@plant-store/engine/for-store'
import type { TableDefinitions } from '../core/database.ts'
import { DatabaseFiles, identify } from './watch.ts'

// Older versions can corrupt a WAL file with two writing connections (https://sqlite.org/wal.html,
// "The WAL-reset bug").
const OLDEST_SQLITE = '3.51.3'

/** Milliseconds for which a connection waits for another process: at a start, and in commands. */
export const BUSY_TIMEOUT = 5000
/** The same while the service runs: short, because the wait blocks the event loop. */
const SERVICE_BUSY_TIMEOUT = 100
/** The most KiB of the file in the service's memory. SQLite's default is 2000. */
const PAGE_CACHE = 32_768

/** The name of a database in memory: https://sqlite.org/inmemorydb.html */
export const IN_MEMORY = ':memory:'

export interface OpenFile {
  /** Reads integers as `bigint`. */
  readonly db: DatabaseSync
  /** Whether the file was empty or did not exist. */
  readonly isNew: boolean
  readonly files: Pick<DatabaseFiles, 'logBytes' | 'findChange'>
  /** Closes the database and unlocks the file. May be called again. */
  readonly close: () => void
}

/**
 * Opens a SQLite file in WAL mode with each commit synced
 * (https://sqlite.org/pragma.html#pragma_synchronous). Creates the file and its tables, if needed.
 * @param exclusive whether to lock the file for this process; false for a command beside a running
 * service
 * @throws {StartupError}
 */
export function openSqlite(
  file: string,
  collections: TableDefinitions,
  exclusive: boolean,
): OpenFile {
  let lock: DatabaseSync | undefined
  let db: DatabaseSync | undefined
  try {
    assertVersion()
    const target = withoutLinks(file)
    if (!existsSync(dirname(target))) makeFolder(dirname(target))
    assertUsable(target)
    makeFileIfAbsent(target)
    const identity = identify(target)
    db = new DatabaseSync(target, { readBigInts: true, timeout: BUSY_TIMEOUT })
    const path = String(db.location())
    assertOneName(path)
    assertNoLinks(path, lockPath(path))
    // The lock comes first: the file could be moved between the check and the lock.
    if (exclusive) lock = acquireLock(path)
    assertNotMoved(path, BUSY_TIMEOUT)
    // A service of the previous version can't use a file once it is taken over, so a command beside
    // it must not take it over.
    if (lock === undefined && isOutdated(db)) lock = acquireLock(path)
    const isNew = prepare(db, lock !== undefined, collections) === 0
    // A restore gives the path to another file.
    if (identify(path) !== identity) throw new Error('it was replaced while it was opened')
    const files = new DatabaseFiles(path)
    return { db, isNew, files, close: closer(db, lock) }
  } catch (error) {
    db?.close()
    lock?.close()
    throw new StartupError(`DATABASE_URL sqlite:${file}: ${reasonOf(error)}`, { cause: error })
  }
}

/** Opens a database in memory, with its tables: for tests. It has no log and no file. */
export function openInMemory(collections: TableDefinitions): OpenFile {
  const db = new DatabaseSync(IN_MEMORY, { readBigInts: true })
  prepareSchema(db, collections)
  updateIndexes(db, collections)
  return {
    db,
    isNew: true,
    files: { logBytes: 0, findChange: () => undefined },
    close: () => db.close(),
  }
}

/** @throws {Error} for a SQLite that can corrupt a file: see DECISIONS.md */
function assertVersion(): void {
  const version = process.versions['sqlite'] ?? ''
  if (versionNumber(version) < versionNumber(OLDEST_SQLITE))
    throw new Error(`this runtime has SQLite ${version}, but ${OLDEST_SQLITE} or later is required`)
}

/** A version as one number: https://sqlite.org/c3ref/c_source_id.html */
function versionNumber(version: string): number {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  return major * 1_000_000 + minor * 1000 + patch
}

function closer(db: DatabaseSync, lock: DatabaseSync | undefined): OpenFile['close'] {
  let isOver = false
  return () => {
    if (isOver) return
    isOver = true
    try {
      // SQLite does not copy the log when it closes a moved file.
      if (lock !== undefined) db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch {
      // Another process is reading, or the disk fails. The log stays.
    }
    db.close()
    lock?.close()
  }
}

/**
 * The absolute path of a file, without symbolic links. The file may be absent. SQLite would read a
 * relative path with `file:` at its beginning as a URI.
 */
function withoutLinks(file: string): string {
  if (existsSync(file)) return realpathSync(file)
  const isLink = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true
  return isLink ? resolve(dirname(file), readlinkSync(file)) : resolve(file)
}

/** Checks permissions. @throws {Error} naming the file, which SQLite's error would not */
function assertUsable(path: string): void {
  const paths = [dirname(path), path, `${path}-wal`, `${path}-shm`, lockPath(path)]
  for (const file of paths.filter(existsSync)) accessSync(file, constants.R_OK | constants.W_OK)
}

/**
 * Writes the log again, unchanged. After a failed sync in an earlier process, the system may show
 * data missing on the disk, and never write it. Later commits in the log would be lost with it.
 */
function rewriteLog(log: string): void {
  if (!existsSync(log)) return
  const file = openSync(log, 'r+')
  copyBytes(file, file)
  fsyncSync(file)
  closeSync(file)
}

/** @returns the previous version of the schema */
function prepare(db: DatabaseSync, exclusive: boolean, collections: TableDefinitions): number {
  db.exec('PRAGMA synchronous = FULL; BEGIN IMMEDIATE')
  const version = prepareSchema(db, collections)
  // A command beside a service leaves the service's indexes as they are.
  if (exclusive) updateIndexes(db, collections)
  // The transaction keeps other processes from writing to the log.
  if (exclusive) rewriteLog(`${db.location()}-wal`)
  db.exec('COMMIT; PRAGMA journal_mode = WAL')
  // Automatic checkpoints hide I/O errors: the service makes its own.
  if (exclusive)
    db.exec(
      `PRAGMA wal_autocheckpoint = 0; PRAGMA busy_timeout = ${SERVICE_BUSY_TIMEOUT}; PRAGMA cache_size = -${PAGE_CACHE}`,
    )
  const set = db
    .prepare('SELECT journal_mode, synchronous FROM pragma_journal_mode, pragma_synchronous')
    .get()
  if (set?.['journal_mode'] !== 'wal' || set['synchronous'] !== 2n) {
    throw new Error("the file system does not support SQLite's write-ahead log")
  }
  return version
}
