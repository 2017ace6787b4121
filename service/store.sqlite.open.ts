import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { reasonOf, StartupError } from './config.ts'

/** Each entry upgrades the schema by one version; `user_version` counts those that a file has had. */
const SCHEMA = [
  `CREATE TABLE plants (
     owner TEXT NOT NULL,
     id INTEGER NOT NULL,
     plant TEXT NOT NULL, -- as JSON, the form that it is answered in
     PRIMARY KEY (owner, id)
   ) WITHOUT ROWID, STRICT;
   CREATE TABLE tokens (
     id TEXT NOT NULL PRIMARY KEY,
     digest BLOB NOT NULL UNIQUE,
     caller TEXT NOT NULL,
     created INTEGER NOT NULL, -- milliseconds since 1970, as is expires
     expires INTEGER
   ) WITHOUT ROWID, STRICT;`,
]

// Earlier ones can corrupt a WAL file that two connections write (https://sqlite.org/wal.html, "The WAL-reset bug").
const OLDEST_SQLITE = '3.51.3'

/** Milliseconds that the owner of a file waits for a visitor, blocking its event loop. A visitor can wait longer. */
export const BUSY_TIMEOUT = 100
const VISITOR_BUSY_TIMEOUT = 5000

const SETTINGS =
  'SELECT sqlite_version() AS version, journal_mode, synchronous FROM pragma_journal_mode, pragma_synchronous'

/** An open file, and the lock that makes this process its owner if it is. */
export interface SqliteFile {
  readonly db: DatabaseSync
  readonly lock: DatabaseSync | undefined
}

/**
 * Opens a SQLite file in WAL mode with each commit synced (https://sqlite.org/pragma.html#pragma_synchronous), and
 * makes it or upgrades its schema where needed.
 * @param sole whether to become the one process that owns the file
 * @throws {StartupError}
 */
export function openSqlite(file: string, sole: boolean): SqliteFile {
  let lock: DatabaseSync | undefined
  let db: DatabaseSync | undefined
  try {
    mkdirSync(dirname(file), { recursive: true })
    if (sole) {
      lock = new DatabaseSync(`${file}.lock`, { timeout: 0 })
      takeLock(lock)
    }
    db = new DatabaseSync(file, { timeout: sole ? BUSY_TIMEOUT : VISITOR_BUSY_TIMEOUT })
    prepare(db)
    return { db, lock }
  } catch (error) {
    db?.close()
    lock?.close()
    throw new StartupError(`DATABASE_URL sqlite:${file}: ${reasonOf(error)}`, { cause: error })
  }
}

// The operating system frees this lock when the process ends, however it ends. It is beside the database, not on it,
// for the `token` command to be able to visit.
function takeLock(lock: DatabaseSync): void {
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    throw new Error('another process is using it', { cause: error })
  }
}

function prepare(db: DatabaseSync): void {
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  const { version, journal_mode, synchronous } = db.prepare(SETTINGS).get() ?? {}
  if (String(version).localeCompare(OLDEST_SQLITE, 'en', { numeric: true }) < 0) {
    throw new Error(`this runtime has SQLite ${String(version)}, and ${OLDEST_SQLITE} or later is needed`)
  }
  if (journal_mode !== 'wal' || synchronous !== 2)
    throw new Error('the file system does not allow for safe writes')
  upgrade(db)
}

function upgrade(db: DatabaseSync): void {
  db.exec('BEGIN IMMEDIATE')
  const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version'])
  if (version > SCHEMA.length) {
    throw new Error(
      `its schema is version ${version} and this program knows ${SCHEMA.length}: a newer one wrote it`,
    )
  }
  for (const change of SCHEMA.slice(version)) db.exec(change)
  db.exec(`PRAGMA user_version = ${SCHEMA.length}; COMMIT`)
}
