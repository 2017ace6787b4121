import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  createReadStream,
  existsSync,
  readFileSync,
  realpathSync,
} from 'node:fs'
import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { backup as copyPages, DatabaseSync } from 'node:sqlite'
import { pipeline } from 'node:stream/promises'
import { isCorrupt } from './errors.ts'
import { BUSY_TIMEOUT, makeFolder, sync } from './file.ts'
import { acquireLock, assertOneName, lockPath } from './lock.ts'
import { readVersion } from './schema.ts'

/** How many rows a copy has, by the names of its tables. */
export type Counts = Readonly<Record<string, number>>

/** Mode bits with which the owner of a file can read and write it. */
const OWNER_ONLY = 0o600

/** The file with the checksum of a backup, in the format of `sha256sum`. */
const checksumPath = (backup: string) => `${backup}.sha256`

/**
 * Saves a copy of a database and its checksum. The database may be in use. The copy shows one moment, and has every write
 * that was acknowledged before it.
 * @param to the path of the copy. The file appears when it is complete and on disk
 * @throws {Error} if `to` already exists, or the copy is not sound, or another process is making one of this database there
 */
export async function saveBackup(database: string, to: string): Promise<Counts> {
  if (existsSync(to)) throw new Error(`${to} already exists`)
  const from = realpathSync(database)
  assertOneName(from)
  const folder = dirname(resolve(to))
  // The next copy to this folder removes what a copy that was killed has left.
  const part = `${folder}/${basename(from)}.part`
  using _lock = acquireLock(part)
  try {
    removeCopy(part)
    writeFileSync(part, '', { mode: 0o600 }) // nobody else can read it before it has its mode
    vacuumInto(from, part)
    const counts = checkDatabase(part)
    chmodSync(part, statSync(from).mode)
    sync(part)
    writeFileSync(checksumPath(to), `${await sha256(part)}  ${basename(to)}\n`, { flush: true })
    renameSync(part, to)
    sync(folder)
    return counts
  } finally {
    removeCopy(part)
    rmSync(lockPath(part), { force: true })
  }
}

/**
 * Puts a backup in the place of a database that no service uses. If this is interrupted, the old or the new database is
 * there, complete. The file keeps its mode and owner; if there was none, only who restores may use it.
 * @param replace whether to replace a database that exists
 * @returns also whether the backup was compared with a checksum
 * @throws {Error} if a service uses the database, if it exists without `replace`, or if the backup is not sound; the
 * database is then unchanged
 */
export async function restoreBackup(
  backup: string,
  database: string,
  replace: boolean,
): Promise<{ counts: Counts; hasChecksum: boolean }> {
  const hasChecksum = existsSync(checksumPath(backup))
  if (hasChecksum && !readFileSync(checksumPath(backup), 'utf8').startsWith(await sha256(backup))) {
    throw new Error(
      `${backup} has changed since it was saved: its SHA-256 is not the one in ${checksumPath(backup)}`,
    )
  }
  const counts = checkDatabase(backup)
  const old = statSync(database, { throwIfNoEntry: false })
  const path = old ? realpathSync(database) : resolve(database)
  if (!existsSync(dirname(path))) makeFolder(dirname(path))
  using _lock = acquireLock(path)
  if (old && !replace) throw new Error(`${database} already exists: --replace overwrites it`)
  if (old) assertOneName(path)
  if (old && process.getuid?.() === 0) chownSync(lockPath(path), old.uid, old.gid)
  if (old && (old.mode & OWNER_ONLY) !== OWNER_ONLY) chmodSync(path, old.mode | OWNER_ONLY)
  // SQLite copies over a sound database in one transaction. In the place of any other, the copy appears when it is complete.
  const target = old && takesPages(path, backup) ? path : `${path}.part`
  if (target !== path) {
    removeCopy(target)
    writeFileSync(target, '', { mode: OWNER_ONLY })
    if (old) chmodSync(target, old.mode | OWNER_ONLY)
    if (old && process.getuid?.() === 0) chownSync(target, old.uid, old.gid)
  }
  try {
    using source = new DatabaseSync(backup, { readOnly: true })
    await copyPages(source, target)
    sync(target)
    if (target !== path) {
      for (const end of ['-wal', '-shm', '-journal']) rmSync(path + end, { force: true }) // logs of what is replaced
      renameSync(target, path)
    }
    sync(dirname(path))
  } finally {
    if (target !== path) removeCopy(target)
  }
  return { counts, hasChecksum }
}

/** Copies a database in one read transaction, which blocks no writer. The copy has no write-ahead log. */
function vacuumInto(from: string, to: string): void {
  using source = new DatabaseSync(from, { readOnly: true, timeout: BUSY_TIMEOUT })
  readVersion(source)
  source.prepare('VACUUM INTO ?').run(to)
}

function removeCopy(part: string): void {
  for (const end of ['', '-journal']) rmSync(part + end, { force: true })
}

/** Whether SQLite can read a database, and its pages have the length of those of a backup. Its log is then in the file. */
function takesPages(path: string, backup: string): boolean {
  using db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT })
  using source = new DatabaseSync(backup, { readOnly: true })
  const lengthOf = (each: DatabaseSync) => each.prepare('PRAGMA page_size').get()?.['page_size']
  try {
    db.exec('SELECT 1 FROM sqlite_schema LIMIT 1; PRAGMA wal_checkpoint(TRUNCATE)')
    return lengthOf(db) === lengthOf(source)
  } catch (error) {
    if (!isCorrupt(error)) throw error
    return false
  }
}

/** Reads a whole database, which may be in use. @throws {Error} if it is not sound */
export function checkDatabase(file: string): Counts {
  using db = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT })
  // https://sqlite.org/pragma.html#pragma_integrity_check
  const lines = db
    .prepare('PRAGMA integrity_check(10)')
    .all()
    .map(({ integrity_check }) => String(integrity_check))
  if (lines[0] !== 'ok') throw new Error(`the database is damaged: ${lines.join('; ')}`)
  if (readVersion(db) === 0) throw new Error('the database is empty')
  const tables = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name = 'tokens', name")
    .all()
  const count = (name: string) =>
    Number(db.prepare(`SELECT count(*) AS count FROM "${name}"`).get()?.['count'])
  return Object.fromEntries(tables.map(({ name }) => [String(name), count(String(name))]))
}

/** The SHA-256 of a file, in hexadecimal digits. */
async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
