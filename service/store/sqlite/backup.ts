import { createHash } from 'node:crypto'
import { chmodSync, createReadStream, existsSync, readFileSync, realpathSync } from 'node:fs'
import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pipeline } from 'node:stream/promises'
import { findFaults } from './check.ts'
import { isCorrupt } from './errors.ts'
import { BUSY_TIMEOUT, makeFolder, sync } from './file.ts'
import { acquireLock, assertOneName } from './owner.ts'
import { readVersion } from './schema.ts'

/** How much a copy holds. */
export interface Count {
  readonly plants: number
  readonly tokens: number
}

/** What SQLite keeps beside a database (https://sqlite.org/tempfiles.html). */
const LOGS = ['-journal', '-wal', '-shm']

/** Where the checksum of a backup is, in the format of `sha256sum`. */
const checksumPath = (backup: string) => `${backup}.sha256`

/**
 * Saves a copy of a database, which may be in use, and its checksum. The copy shows one moment, and has every write that
 * was acknowledged before.
 * @param to a path where no file is; once a file is there, it is whole and on disk
 * @throws {Error} if a file is there, or the copy is not sound
 */
export async function saveBackup(database: string, to: string): Promise<Count> {
  if (existsSync(to)) throw new Error(`${to} already exists`)
  const from = realpathSync(database)
  assertOneName(from)
  return copy(from, resolve(to), async (part) => {
    writeFileSync(checksumPath(to), `${await sha256(part)}  ${basename(to)}\n`, { flush: true })
  })
}

/**
 * Puts a backup in the place of a database that no service uses. However it is interrupted, the database that was there
 * or the new one is there, whole.
 * @param replace whether a database that is there may be lost
 * @returns also whether there is a checksum, which the backup then has
 * @throws {Error} if a service uses the database, if there is one, or if the backup is not sound; nothing is changed then
 */
export async function restoreBackup(
  backup: string,
  database: string,
  replace: boolean,
): Promise<Count & { hasChecksum: boolean }> {
  const hasChecksum = existsSync(checksumPath(backup))
  if (hasChecksum && !readFileSync(checksumPath(backup), 'utf8').startsWith(await sha256(backup))) {
    throw new Error(`${backup} has changed since it was saved: its SHA-256 is not the one in ${checksumPath(backup)}`)
  }
  const isThere = existsSync(database)
  const path = isThere ? realpathSync(database) : resolve(database)
  if (!existsSync(dirname(path))) makeFolder(dirname(path))
  const lock = acquireLock(path)
  try {
    if (isThere && !replace) throw new Error(`${database} already exists: --replace overwrites it`)
    if (isThere) assertOneName(path)
    const count = await copy(resolve(backup), path, () => {
      if (isThere) emptyLog(path)
      // A log that outlived its database would be applied to the one that comes in its place.
      removeFiles(path, LOGS)
    })
    return { ...count, hasChecksum }
  } finally {
    lock.close()
  }
}

/**
 * Copies a sound database.
 * @param beforeRename is called when the copy is whole, and on disk under the name that it gets
 */
async function copy(from: string, to: string, beforeRename: (part: string) => void | Promise<void>): Promise<Count> {
  const part = `${to}.part`
  removeFiles(part)
  try {
    const source = new DatabaseSync(from, { readOnly: true, timeout: BUSY_TIMEOUT })
    try {
      readVersion(source)
      // One read transaction, which no writer waits for; and a file alone, without a write-ahead log.
      source.prepare('VACUUM INTO ?').run(part)
    } finally {
      source.close()
    }
    const count = check(part)
    chmodSync(part, statSync(from).mode)
    sync(part)
    await beforeRename(part)
    sync(dirname(to))
    renameSync(part, to)
    sync(dirname(to))
    return count
  } finally {
    removeFiles(part)
  }
}

/** Puts what is in the log of a database into its file, so that nothing is lost with the log. */
function emptyLog(path: string): void {
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT })
  try {
    db.exec('PRAGMA synchronous = FULL; SELECT 1 FROM sqlite_schema LIMIT 1')
    const { busy } = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {}
    if (busy !== 0) throw new Error('another process is reading it')
  } catch (error) {
    if (!isCorrupt(error)) throw error // else it is lost anyway
  } finally {
    db.close()
  }
}

function removeFiles(database: string, endings = ['', ...LOGS]): void {
  for (const ending of endings) rmSync(database + ending, { force: true })
}

/** @throws {Error} if the database is not sound */
function check(file: string): Count {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const faults = findFaults(db, 'integrity_check')
    if (faults.length > 0) throw new Error(`the copy is not sound: ${faults.join('; ')}`)
    const counts = 'SELECT (SELECT count(*) FROM plants) AS plants, (SELECT count(*) FROM tokens) AS tokens'
    const { plants, tokens } = db.prepare(counts).get() ?? {}
    return { plants: Number(plants), tokens: Number(tokens) }
  } finally {
    db.close()
  }
}

/** The SHA-256 of a file, in hexadecimal digits. */
async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
