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
/** Where the header of the log has its salt, which is another one each time that the log begins anew. */
const SALT_OF_LOG = 16
/** Where each frame has it. */
const SALT_OF_FRAME = 8
const SALT_LENGTH = 8

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
   * What happened to the files since the last call; undefined if they are as SQLite left them, or the system does not tell.
   * Not inside a transaction.
   */
  findFault(): Fault | undefined {
    try {
      return this.#findFault()
    } catch {
      return undefined
    }
  }

  /** Call it when the database is closed. */
  close(): void {
    closeSync(this.#log)
    closeSync(this.#index)
  }

  #findFault(): Fault | undefined {
    const { header, frames, pages, pageSize, salt } = this.#readIndex()
    const [path = '', log = ''] = this.#paths
    const now = look(this.#paths)
    const damaged = (what: string): Fault => ({
      message: `${what} was truncated or overwritten`,
      canClose: false,
    })
    const isSame = (n: number) =>
      now[n]?.ino === this.#known[n]?.ino && now[n]?.dev === this.#known[n]?.dev
    // A VACUUM in another program shortens the file.
    const least = Math.min(this.#known[0]?.size ?? 0, pages === 0 ? Infinity : pages * pageSize)
    if (isSame(0) && (now[0]?.size ?? 0) < least) return damaged(path)
    const hasSalt = (at: number) => this.#read(this.#log, at, SALT_LENGTH).equals(salt)
    const { blocks, size } = fstatSync(this.#log)
    // What was cut off is a hole when SQLite has written after it. On a disk that compresses, every log may have holes.
    const first = blocks * BLOCK < size ? 0 : Math.max(0, frames - 1)
    let isWhole =
      frames === 0 ||
      (size >= LOG_HEADER + frames * (FRAME_HEADER + pageSize) && hasSalt(SALT_OF_LOG))
    for (let frame = first; isWhole && frame < frames; frame++)
      isWhole = hasSalt(LOG_HEADER + frame * (FRAME_HEADER + pageSize) + SALT_OF_FRAME)
    // If another process has written meanwhile, the next look tells.
    if (!isWhole && this.#readIndex().header.equals(header)) return damaged(log)
    const other = this.#paths.find((_, n) => !isSame(n))
    if (other !== undefined) return { message: `${other} was removed or replaced`, canClose: true }
    this.#known = now
    return undefined
  }

  /** Reads the header of the index (https://sqlite.org/walformat.html#the_wal_index_header), in the machine's byte order. */
  #readIndex() {
    const header = this.#read(this.#index, 0, 48)
    const [, , , , frames = 0, pages = 0] = new Uint32Array(header.buffer, header.byteOffset)
    const [pageSize = 0] = new Uint16Array(header.buffer, header.byteOffset + 14)
    return { header, frames, pages, pageSize, salt: header.subarray(32, 32 + SALT_LENGTH) }
  }

  #read(file: number, at: number, length: number): Buffer {
    const bytes = Buffer.alloc(length)
    readSync(file, bytes, 0, length, at)
    return bytes
  }
}

function look(paths: readonly string[]) {
  return paths.map((path) => statSync(path, { throwIfNoEntry: false }))
}
