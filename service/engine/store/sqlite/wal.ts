import type { DatabaseSync } from 'node:sqlite'
import { StoreUnavailable } from '../../errors.ts'
import type { Access } from './table.ts'
import type { DatabaseFiles } from './watch.ts'

/** Bytes of the log above which it is truncated after a checkpoint. */
const MAX_LOG_BYTES = 64 << 20

/** The write-ahead log of a database. Checkpoints copy it into the file. SQLite's automatic ones hide I/O errors. */
export class WriteAheadLog {
  readonly #files: DatabaseFiles
  readonly #db: DatabaseSync
  readonly #run: Access['run']

  /** @param run runs SQL, and translates its errors */
  constructor(files: DatabaseFiles, db: DatabaseSync, run: Access['run']) {
    this.#files = files
    this.#db = db
    this.#run = run
  }

  get bytes(): number {
    return this.#files.logBytes
  }

  /** Copies the log into the file, and truncates it if it is long. */
  checkpoint(): void {
    if (this.#files.findFault(false)?.canClose === false) return // it would spread the damage
    try {
      const { log, checkpointed } = this.#run(() => this.#db.prepare('PRAGMA wal_checkpoint').get()) ?? {}
      this.#files.findFault(false) // remembers the size of the file
      // If a reader in another process still uses the log, it is truncated later.
      if (log !== checkpointed || this.bytes <= MAX_LOG_BYTES) return
      this.#run(() => this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)'))
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error // StoreUnavailable: the next checkpoint tries again
    }
  }
}
