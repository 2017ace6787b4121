// Looks at the files of an open database: only SQLite may remove or replace them
// (https://sqlite.org/howtocorrupt.html, section 2.4).
import { statSync } from 'node:fs'
import { lockPath } from './lock.ts'

/** Milliseconds between two looks at the files. */
export const LOOK_INTERVAL = 1000

/** The files of a database that is open. */
export class DatabaseFiles {
  readonly #paths: readonly string[]
  readonly #identities: readonly string[]

  /** @param path absolute, without symbolic links */
  constructor(path: string) {
    this.#paths = [path, `${path}-wal`, `${path}-shm`, lockPath(path)]
    this.#identities = this.#paths.map(identify)
  }

  /** The bytes of the log; NaN if the system does not tell. */
  get logBytes(): number {
    try {
      return statSync(`${this.#paths[0]}-wal`).size
    } catch {
      return NaN
    }
  }

  /**
   * What happened to the files since the database was opened; undefined if they are the same, or the
   * system does not tell.
   */
  findFault(): string | undefined {
    try {
      const path = this.#paths.find((path, index) => identify(path) !== this.#identities[index])
      return path && `${path} was removed or replaced`
    } catch {
      return undefined
    }
  }
}

/** A text that tells a file from another one of the same path; empty if there is none. */
export function identify(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats ? `${stats.dev}:${stats.ino}` : ''
}
