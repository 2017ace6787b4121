// Watches the files of an open database: only SQLite may remove or replace them
// (https://sqlite.org/howtocorrupt.html, section 2.4).
import { statSync } from 'node:fs'
import { lockPath } from './lock.ts'

/** Milliseconds between two polls of the files. */
export const POLL_INTERVAL = 1000

/** A file, and the identity that tells it from another file at the same path. */
interface WatchedFile {
  readonly path: string
  readonly identity: string
}

export class DatabaseFiles {
  readonly #logPath: string
  readonly #files: readonly WatchedFile[]

  /** @param path absolute, without symbolic links */
  constructor(path: string) {
    this.#logPath = `${path}-wal`
    const paths = [path, this.#logPath, `${path}-shm`, lockPath(path)]
    this.#files = paths.map((file) => ({ path: file, identity: identify(file) }))
  }

  /** The bytes of the log; NaN if the system does not tell. */
  get logBytes(): number {
    try {
      return statSync(this.#logPath).size
    } catch {
      return NaN
    }
  }

  /**
   * Compares the files at these paths with the opened files.
   * @returns the change, described for people; undefined if they are the same, or the system does
   * not tell
   */
  findChange(): string | undefined {
    try {
      const changed = this.#files.find(({ path, identity }) => identify(path) !== identity)
      return changed && `${changed.path} was removed or replaced`
    } catch {
      return undefined
    }
  }
}

/** Tells a file from another one at the same path; empty if there is none. */
export function identify(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats ? `${stats.dev}:${stats.ino}` : ''
}
