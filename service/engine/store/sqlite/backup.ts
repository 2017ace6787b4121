import { createHash } from 'node:crypto'
import { chmodSync, chownSync, createReadStream, existsSync, readFileSync, realpathSync, type Stats } from 'node:fs'
import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pipeline } from 'node:stream/promises'
import { reasonOf } from '../../errors.ts'
import { isCorrupt } from './errors.ts'
import { BUSY_TIMEOUT, makeFolder, sync } from './file.ts'
import { acquireLock, assertOneName, lockPath } from './lock.ts'
import { readVersion } from './schema.ts'

/** How many rows a copy has, by the names of its tables. */
export type Counts = Readonly<Record<string, number>>

/** The endings of the files that SQLite keeps beside a database (https://sqlite.org/tempfiles.html). */
const LOGS = ['-journal', '-wal', '-shm']

/** The file with the checksum of a backup, in the format of `sha256sum`. */
const checksumPath = (backup: string) => `${backup}.sha256`

/**
 * Saves a copy of a database and its checksum. The database may be in use. The copy shows one moment, and has every write
 * that was acknowledged before it.
 * @param to the path of the copy. The file appears when it is complete and on disk
 * @throws {Error} if `to` already exists, or the copy is not sound
 */
export async function saveBackup(database: string, to: string): Promise<Counts> {
  if (existsSync(to)) throw new Error(`${to} already exists`)
  const from = realpathSync(database)
  assertOneName(from)
  const { mode } = statSync(from)
  // The next copy to this folder removes what a copy that was killed has left.
  const part = `${dirname(resolve(to))}/${basename(from)}.part`
  return copy(from, resolve(to), part, { mode }, async () => {
    writeFileSync(checksumPath(to), `${await sha256(part)}  ${basename(to)}\n`, { flush: true })
  })
}

/**
 * Puts a backup in the place of a database that no service uses. If this is interrupted, the old or the new database is
 * there, complete. The new one has the mode and the owner of the old one; without an old one, only who restores may use it.
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
    throw new Error(`${backup} has changed since it was saved: its SHA-256 is not the one in ${checksumPath(backup)}`)
  }
  const old = statSync(database, { throwIfNoEntry: false })
  const path = old ? realpathSync(database) : resolve(database)
  if (!existsSync(dirname(path))) makeFolder(dirname(path))
  using _lock = acquireLock(path)
  if (old && !replace) throw new Error(`${database} already exists: --replace overwrites it`)
  if (old) assertOneName(path)
  if (old) giveTo(old, lockPath(path))
  const access = { mode: (old?.mode ?? 0) | 0o600, ...(old && { owner: old }) }
  const counts = await copy(resolve(backup), path, `${path}.part`, access, () => {
    if (old) emptyLog(path)
    // SQLite would apply the log of the old database to the new one.
    removeFiles(path, LOGS)
  })
  return { counts, hasChecksum }
}

/**
 * Copies a sound database.
 * @param part the temporary path of the copy
 * @param beforeRename is called when the copy is complete and on disk
 * @throws {Error} if another process is making a copy there
 */
async function copy(
  from: string,
  to: string,
  part: string,
  { mode, owner }: { readonly mode: number; readonly owner?: Stats },
  beforeRename: () => void | Promise<void>,
): Promise<Counts> {
  using _lock = acquireLock(part)
  removeFiles(part)
  try {
    writeFileSync(part, '', { mode: 0o600 }) // Nobody else can read it before it has its mode.
    vacuumInto(from, part)
    const count = checkDatabase(part)
    if (owner) giveTo(owner, part)
    chmodSync(part, mode)
    sync(part)
    await beforeRename()
    sync(dirname(to))
    renameSync(part, to)
    sync(dirname(to))
    return count
  } finally {
    removeFiles(part)
    removeFiles(lockPath(part), [''])
  }
}

function giveTo({ uid, gid }: Stats, file: string): void {
  const now = statSync(file)
  if (now.uid !== uid || now.gid !== gid) chownSync(file, uid, gid)
}

/** Copies a database in one read transaction, which blocks no writer. The copy has no write-ahead log. */
function vacuumInto(from: string, to: string): void {
  using source = new DatabaseSync(from, { readOnly: true, timeout: BUSY_TIMEOUT })
  readVersion(source)
  source.prepare('VACUUM INTO ?').run(to)
}

/** Copies the log of a database into its file, so that the log can be deleted. */
function emptyLog(path: string): void {
  using db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT })
  try {
    db.exec('PRAGMA synchronous = FULL; SELECT 1 FROM sqlite_schema LIMIT 1')
    const { busy } = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {}
    if (busy !== 0) throw new Error('another process is reading it')
  } catch (error) {
    if (!isCorrupt(error)) throw error // a corrupt database is lost anyway
  }
}

function removeFiles(database: string, endings = ['', ...LOGS]): void {
  for (const ending of endings) rmSync(database + ending, { force: true })
}

/** Reads a whole database, which may be in use. @throws {Error} if it is not sound */
export function checkDatabase(file: string): Counts {
  using db = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT })
  const faults = findFaults(db)
  if (faults.length > 0) throw new Error(`the database is damaged: ${faults.join('; ')}`)
  if (readVersion(db) === 0) throw new Error('the database is empty')
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name = 'tokens', name").all()
  const count = (name: string) => Number(db.prepare(`SELECT count(*) AS count FROM "${name}"`).get()?.['count'])
  return Object.fromEntries(tables.map(({ name }) => [String(name), count(String(name))]))
}

/** The faults that SQLite finds in a database (https://sqlite.org/pragma.html#pragma_integrity_check); none if it is sound. */
function findFaults(db: DatabaseSync): string[] {
  try {
    const lines = db.prepare('PRAGMA integrity_check(10)').all()
    return lines.map(({ integrity_check }) => String(integrity_check)).filter((line) => line !== 'ok')
  } catch (error) {
    if (!isCorrupt(error)) throw error
    return [reasonOf(error)] // a damaged page stopped the check
  }
}

/** The SHA-256 of a file, in hexadecimal digits. */
async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
