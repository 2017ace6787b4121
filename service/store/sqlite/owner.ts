// Which process owns a database file, and by which name.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { primaryCode } from './errors.ts'

/** The lock is beside the database, not on it, so that the `token` command can open the database, too. */
export const lockPath = (path: string) => `${path}.lock`

/**
 * Becomes the one process that owns a database, until the lock is closed. The operating system frees it when the process
 * ends, however it ends.
 * @param path absolute, without symbolic links
 * @throws {Error} if another process is the owner
 */
export function acquireLock(path: string): DatabaseSync {
  const lock = new DatabaseSync(lockPath(path), { timeout: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    throw primaryCode(error) === 5 ? new Error('another process is using it', { cause: error }) : error
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

/** @returns a function that tells whether the paths still lead to the same files as now */
export function watchPlace(paths: readonly string[]): () => boolean {
  const found = () => paths.map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }))
  const before = found()
  return () => found().every((now, n) => now !== undefined && now.ino === before[n]?.ino && now.dev === before[n].dev)
}
