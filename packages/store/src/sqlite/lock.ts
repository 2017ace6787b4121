// Locks a database file for one process, and refuses a file with two names.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { primaryCode } from './result-codes.ts'
import { makeFileIfAbsent, type Owner } from './private-files.ts'

/**
 * The lock is a file beside the database, so that the `token` command can still open the database.
 */
export const lockPath = (path: string) => `${path}.lock`

/**
 * Locks a database for this process, until the lock is closed. The operating system frees the lock
 * when the process ends or crashes.
 * @param path absolute, without symbolic links
 * @param owner the owner of the lock's file, if the file has to be made
 * @throws {Error} if another process has the lock
 */
export function acquireLock(path: string, owner?: Owner): DatabaseSync {
  makeFileIfAbsent(lockPath(path), owner)
  const lock = new DatabaseSync(lockPath(path), { timeout: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    throw primaryCode(error) === 5
      ? new Error('another process is using it', { cause: error })
      : error
  }
}

/**
 * Refuses a database file with a second name: a hard link, or a mount of the file. SQLite keeps a
 * separate log for each name, and processes with different names would corrupt the file.
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
    throw new Error(
      'the file has another name, by a mount or a hard link: mount the folder, not the file',
    )
  }
}

/**
 * Refuses a file that another process has open by its name before a move. It has another log and
 * another lock file, but SQLite's locks are on the database file itself. A log beside the file
 * shows that only this name is in use.
 * @param path absolute, without symbolic links
 * @param timeout milliseconds for the other process to close the file
 * @throws {Error}
 */
export function assertNotMoved(path: string, timeout: number): void {
  if (existsSync(`${path}-wal`)) return
  using db = new DatabaseSync(path, { timeout })
  try {
    db.exec('PRAGMA locking_mode = EXCLUSIVE; SELECT 1 FROM sqlite_schema LIMIT 1')
  } catch (error) {
    throw primaryCode(error) === 5
      ? new Error('another process uses it by another name', { cause: error })
      : error
  }
}
