// Looks at the files of an open database: only SQLite may remove, replace, shorten or overwrite them.
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { lockPath } from './lock.ts'

/** Milliseconds between two looks at the files. */
export const LOOK_INTERVAL = 1000

/** What happened to the files of a database. */
export interface Fault {
  readonly message: string
  /** Whether the log is whole: if the database is closed, SQLite copies it into the file. */
  readonly canClose: boolean
}

/** Bytes of a log, before its first frame and before the page of each frame (https://sqlite.org/fileformat2.html#walformat). */
const LOG_HEADER = 32
const FRAME_HEADER = 24
/** Where both of them have the salt, which is another one each time that the log begins anew. */
const SALT_OF_LOG = 16
const SALT_OF_FRAME = 8
/** Bytes of a block of a file (https://man7.org/linux/man-pages/man3/stat.3type.html). */
const BLOCK = 512

/** The files of a database that is open. */
export class DatabaseFiles {
  readonly #paths: readonly string[]
  readonly #log: number
  /** Closed after the database, because SQLite's locks on a file end when the process closes it for the first time. */
  readonly #index: number
  #known: ReturnType<typeof look>

  /** @param path absolute, without symbolic links */
  constructor(path: string) {
    this.#paths = [path, `${path}-wal`, `${path}-shm`, lockPath(path)]
    this.#log = openSync(`${path}-wal`, 'r')
    this.#index = openSync(`${path}-shm`, 'r')
    this.#known = look(this.#paths)
  }

  /** The bytes of the log; NaN if the system does not tell. */
  get logBytes(): number {
    try {
      return fstatSync(this.#log).size
    } catch {
      return NaN
    }
  }

  /**
   * What happened to the files since the last call, which remembers their sizes; undefined if they are as SQLite left them.
   * Not inside a transaction.
   */
  findFault(): Fault | undefined {
    try {
      return this.#findFault()
    } catch {
      return undefined // the system does not tell
    }
  }

  /** Call it when the database is closed. */
  close(): void {
    closeSync(this.#log)
    closeSync(this.#index)
  }

  #findFault(): Fault | undefined {
    const [path = '', log = '', index = ''] = this.#paths
    const now = look(this.#paths)
    const isSame = (n: number) => now[n]?.ino === this.#known[n]?.ino && now[n]?.dev === this.#known[n]?.dev
    const isShorter = (n: number, least = Infinity) =>
      isSame(n) && sizeOf(now[n]) < Math.min(sizeOf(this.#known[n]), least)
    const damaged = (what: string): Fault => ({ message: `${what} was truncated or overwritten`, canClose: false })
    if (isShorter(2)) return damaged(index)
    const { pages, pageSize } = this.#readIndex()
    // A VACUUM in another program shortens the file.
    if (isShorter(0, pages === 0 ? Infinity : pages * pageSize)) return damaged(path)
    if (!this.#isLogWhole()) return damaged(log)
    const other = this.#paths.find((_, n) => !isSame(n))
    if (other !== undefined) return { message: `${other} was removed or replaced`, canClose: true }
    this.#known = now
    return undefined
  }

  /** Whether the log begins and ends as the index says, and if it has a hole, whether every frame is there. */
  #isLogWhole(): boolean {
    for (;;) {
      const { text, frames, pageSize, salt, isBeingWritten } = this.#readIndex()
      if (isBeingWritten || frames === 0) return true
      const saltOf = (frame: number) => this.#readSalt(LOG_HEADER + frame * (FRAME_HEADER + pageSize) + SALT_OF_FRAME)
      const { blocks, size } = fstatSync(this.#log)
      // What was cut off is a hole when SQLite has written after it. On a disk that compresses, every log may have holes.
      const hasHole = blocks * BLOCK < size
      let isWhole = this.#readSalt(SALT_OF_LOG) === salt
      for (let n = hasHole ? 0 : frames - 1; isWhole && n < frames; n++) isWhole = saltOf(n) === salt
      if (isWhole) return true
      if (this.#readIndex().text === text) return false // otherwise another process has written meanwhile
    }
  }

  /** Reads the header of the index, which is there twice (https://sqlite.org/walformat.html#the_wal_index_header). */
  #readIndex() {
    const words = this.#read(this.#index, 0, 24)
    const [, , , sizeWord = 0, frames = 0, pages = 0] = words
    const size = sizeWord >>> 16
    const first = String(words.subarray(0, 12))
    const isBeingWritten = first !== String(words.subarray(12))
    return {
      text: String(words),
      frames,
      pages,
      pageSize: size === 1 ? 65_536 : size,
      salt: String(words.subarray(8, 10)),
      isBeingWritten,
    }
  }

  #readSalt(at: number): string {
    return String(this.#read(this.#log, at, 2))
  }

  #read(file: number, at: number, count: number): Uint32Array {
    const words = new Uint32Array(count)
    readSync(file, words, 0, words.byteLength, at)
    return words
  }
}

function look(paths: readonly string[]) {
  return paths.map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }))
}

function sizeOf(stats: { readonly size: bigint } | undefined): number {
  return Number(stats?.size ?? 0)
}
