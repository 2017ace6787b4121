// `node service/backup.ts save|restore <file>`: copies of the embedded store that DATABASE_URL names.
import {
  chmodSync,
  existsSync,
  fsyncSync,
  openSync,
  closeSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { readConfig } from './config.ts'
import { acquireLock } from './store/sqlite/file.ts'
import { versionOf } from './store/sqlite/schema.ts'
import { reasonOf } from './errors.ts'

/** How much a copy holds. */
interface Count {
  readonly plants: number
  readonly tokens: number
}

/**
 * Saves a copy of a database, which may be in use: all that was acknowledged before, of one moment.
 * @param to where nothing is yet; once it is there, it is whole and on disk
 * @throws {Error} if there is something, or the copy is not sound
 */
export function saveBackup(database: string, to: string): Count {
  if (existsSync(to)) throw new Error(`${to} is there already`)
  return copy(resolve(database), resolve(to))
}

/**
 * Puts a backup in the place of a database that no service uses.
 * @param replace whether a database that is there may be lost
 * @throws {Error} if a service uses it, if there is one, or if the backup is not sound; nothing is changed then
 */
export function restoreBackup(from: string, database: string, replace: boolean): Count {
  const isThere = existsSync(database)
  const path = isThere ? realpathSync(database) : resolve(database)
  const lock = acquireLock(path)
  try {
    if (isThere && !replace) throw new Error(`${database} is there already: with --replace it is lost`)
    return copy(resolve(from), path)
  } finally {
    lock.close()
  }
}

/** Copies a sound database, for a crash to leave the new one or what was there. */
function copy(from: string, to: string): Count {
  const part = `${to}.part`
  removeFiles(part)
  try {
    const source = new DatabaseSync(from, { readOnly: true, timeout: 5000 })
    try {
      versionOf(source)
      // One read transaction, which no writer waits for; and a file alone, without a write-ahead log.
      source.prepare('VACUUM INTO ?').run(part)
    } finally {
      source.close()
    }
    const count = check(part)
    chmodSync(part, statSync(from).mode)
    sync(part)
    // A log that outlived its database would be applied to the one that comes in its place.
    removeFiles(to, LOGS)
    sync(dirname(to))
    renameSync(part, to)
    sync(dirname(to))
    return count
  } finally {
    removeFiles(part)
  }
}

/** What SQLite keeps beside a database (https://sqlite.org/tempfiles.html). */
const LOGS = ['-journal', '-wal', '-shm']

function removeFiles(database: string, endings = ['', ...LOGS]): void {
  for (const ending of endings) rmSync(database + ending, { force: true })
}

/** @throws {Error} if the database is not sound */
function check(file: string): Count {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const faults = db.prepare('PRAGMA integrity_check').all()
    if (faults[0]?.['integrity_check'] !== 'ok') throw new Error(`the copy is not sound: ${JSON.stringify(faults)}`)
    const counts = 'SELECT (SELECT count(*) FROM plants) AS plants, (SELECT count(*) FROM tokens) AS tokens'
    const { plants, tokens } = db.prepare(counts).get() ?? {}
    return { plants: Number(plants), tokens: Number(tokens) }
  } finally {
    db.close()
  }
}

/** Waits until a file, or the names in a folder, are on disk. */
function sync(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const USAGE = `usage: backup save <file>                  copies the store, which may be in use
       backup restore <file> [--replace]   puts the copy in the place of the store`

if (import.meta.main) {
  try {
    const [word, file = '', option, ...more] = process.argv.slice(2)
    const isUnderstood = more.length === 0 && (option === undefined || (word === 'restore' && option === '--replace'))
    if (!isUnderstood || file === '' || (word !== 'save' && word !== 'restore')) throw new Error(USAGE)
    const { DATABASE_URL } = readConfig()
    if (!('file' in DATABASE_URL)) throw new Error('DATABASE_URL is of PostgreSQL: back it up with pg_dump')
    const store = DATABASE_URL.file
    const from = word === 'save' ? store : file
    if (!existsSync(from)) throw new Error(`there is no file ${from}`)
    const { plants, tokens } =
      word === 'save' ? saveBackup(store, file) : restoreBackup(file, store, option !== undefined)
    console.log(`${plants} plants and ${tokens} tokens are in ${word === 'save' ? file : store}`)
  } catch (error) {
    console.error(reasonOf(error))
    process.exitCode = 1
  }
}
