import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { primaryCode } from './errors.ts'
import { reasonOf, StartupError } from '../../errors.ts'

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
   ) WITHOUT ROWID, STRICT`,
  'ALTER TABLE tokens ADD COLUMN scopes TEXT',
]

// Marks a database as one of this program (https://sqlite.org/pragma.html#pragma_application_id).
const APPLICATION_ID = 0x706c6e74

// Earlier ones can corrupt a WAL file that two connections write (https://sqlite.org/wal.html, "The WAL-reset bug").
const OLDEST_SQLITE = '3.51.3'

/** Milliseconds that the owner of a file waits for a visitor, blocking its event loop. */
export const BUSY_TIMEOUT = 100

/**
 * Opens a SQLite file in WAL mode with each commit synced (https://sqlite.org/pragma.html#pragma_synchronous), and
 * makes it or upgrades its schema where needed. Integers are read as `bigint`.
 * @param sole whether to become the one process that owns the file: it then holds `lock` until that is closed
 * @throws {StartupError}
 */
export function openSqlite(file: string, sole: boolean): { db: DatabaseSync; lock: DatabaseSync | undefined } {
  let lock: DatabaseSync | undefined
  let db: DatabaseSync | undefined
  try {
    const version = process.versions['sqlite'] ?? ''
    if (version.localeCompare(OLDEST_SQLITE, 'en', { numeric: true }) < 0) {
      throw new Error(`this runtime has SQLite ${version}, and ${OLDEST_SQLITE} or later is needed`)
    }
    const path = resolve(file) // SQLite would take a relative one that begins with "file:" for a URI
    if (!existsSync(dirname(path))) makeFolder(dirname(path))
    db = new DatabaseSync(path, { readBigInts: true, timeout: sole ? BUSY_TIMEOUT : 5000 }) // a visitor can wait
    // The operating system frees the lock when the process ends, however it ends. It is beside the database, not on
    // it, for the `token` command to be able to visit; and beside the file itself where `file` is a symbolic link.
    if (sole) lock = own(String(db.location()))
    prepare(db, sole)
    return { db, lock }
  } catch (error) {
    db?.close()
    lock?.close()
    throw new StartupError(`DATABASE_URL sqlite:${file}: ${reasonOf(error)}`, { cause: error })
  }
}

/**
 * Becomes the one process that owns a database, until what it returns is closed.
 * @param path absolute, without symbolic links
 * @throws {Error} if another process does
 */
export function own(path: string): DatabaseSync {
  const lock = new DatabaseSync(`${path}.lock`, { timeout: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    throw primaryCode(error) === 5 ? new Error('another process is using it', { cause: error }) : error
  }
}

/** Makes a folder that a power cut does not take away again. */
function makeFolder(path: string): void {
  mkdirSync(path)
  const parent = openSync(dirname(path), 'r')
  fsyncSync(parent)
  closeSync(parent)
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

function prepare(db: DatabaseSync, sole: boolean): void {
  db.exec('PRAGMA synchronous = FULL; BEGIN IMMEDIATE')
  const version = versionOf(db)
  const mark = `PRAGMA user_version = ${SCHEMA.length}; PRAGMA application_id = ${APPLICATION_ID}`
  if (version < SCHEMA.length) db.exec([...SCHEMA.slice(version), mark].join(';'))
  // Nobody else writes to the log meanwhile.
  if (sole) rewriteLog(`${db.location()}-wal`)
  db.exec('COMMIT; PRAGMA journal_mode = WAL')
  if (sole) db.exec('PRAGMA wal_autocheckpoint = 0') // its errors would not be told: the owner does it
  const set = db.prepare('SELECT journal_mode, synchronous FROM pragma_journal_mode, pragma_synchronous').get()
  if (set?.['journal_mode'] !== 'wal' || set['synchronous'] !== 2n) {
    throw new Error('the file system does not allow for safe writes')
  }
}

/**
 * The version of the schema; 0 for an empty file.
 * @throws {Error} if the database is one of another program, or of a newer version of this one
 */
export function versionOf(db: DatabaseSync): number {
  const objects = '(SELECT count(*) FROM sqlite_schema)'
  const identity = `SELECT user_version, application_id = ${APPLICATION_ID}
      OR (application_id, user_version, ${objects}) = (0, 0, 0) AS ours
    FROM pragma_application_id, pragma_user_version`
  const { user_version, ours } = db.prepare(identity).get() ?? {}
  const version = Number(user_version)
  if (Number(ours) !== 1) throw new Error('it is a database of another program')
  if (version > SCHEMA.length) {
    throw new Error(`its schema is version ${version} and this program knows ${SCHEMA.length}: a newer one wrote it`)
  }
  return version
}
