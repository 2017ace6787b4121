import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { StoreUnavailable } from '../../errors.ts'
import type { Lists } from '../lists.ts'
import type { Run } from './pages.ts'

/** Bytes of the log: above the first, a new snapshot waits for the open ones; above the second, they are closed. */
const MAX_LOG_BYTES = 64 << 20
const MAX_LOG_BYTES_WITH_SNAPSHOTS = 256 << 20

/** The write-ahead log of a database. Checkpoints copy it into the file. SQLite's automatic ones hide I/O errors. */
export class WriteAheadLog {
  readonly #file: string
  readonly #db: DatabaseSync
  readonly #run: Run

  /** @param run runs SQL, and translates its errors */
  constructor(path: string, db: DatabaseSync, run: Run) {
    this.#file = `${path}-wal`
    this.#db = db
    this.#run = run
  }

  get bytes(): number {
    return statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0
  }

  /** Whether no further snapshot may be opened: a log can't be truncated while a snapshot is open. */
  get isLong(): boolean {
    return this.bytes > MAX_LOG_BYTES
  }

  /** Copies the log into the file, and truncates it if it is long and no snapshot is open. */
  checkpoint(lists: Pick<Lists, 'snapshots' | 'endSnapshots'>): void {
    if (this.bytes > MAX_LOG_BYTES_WITH_SNAPSHOTS) void lists.endSnapshots()
    try {
      const { log, checkpointed } = this.#run(() => this.#db.prepare('PRAGMA wal_checkpoint').get()) ?? {}
      // If a reader in another process still uses the log, it is truncated later.
      if (log !== checkpointed || lists.snapshots > 0 || !this.isLong) return
      this.#run(() => this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)'))
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error // StoreUnavailable: the next checkpoint tries again
    }
  }
}
