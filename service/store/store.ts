import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { components } from '../contract/contract.ts'
import type { JsonText } from '../http/json.ts'

/** The settings that a store reads, besides `DATABASE_URL`. */
export type Limits = Pick<Config, 'DATABASE_POOL_SIZE' | 'DATABASE_TIMEOUT'> & Partial<Pick<Config, 'NODE_ENV'>>

/** How a store reports to the service. Commands open a store without it. */
export interface Monitor {
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  /**
   * Called once, when the store can't be used until the process is restarted, for example after an I/O error. Every later
   * call of the store fails.
   */
  readonly onFailure: (message: string, error: unknown) => void
}

/** A plant without its id, as the contract describes it. */
export type Plant = components['schemas']['Plant']

/** Some plants of one owner, by ascending id. */
export interface Page {
  /** The plants as JSON; in batches if they are too many to hold in memory. */
  readonly plants: JsonText<Plant[]> | AsyncIterable<JsonText<Plant[]>>
  /** The id of the last plant of the page, if the owner has more after it. */
  readonly last?: bigint
}

/** An access token. The token itself is not stored, only its digest. */
export interface StoredToken {
  /** Names the token in lists and commands; the beginning of its digest. */
  readonly id: string
  readonly caller: string
  readonly created: Date
  /** When it expires; never if absent. */
  readonly expires?: Date
  /** The scopes that it grants (RFC 6749, section 3.3). */
  readonly scopes: readonly string[]
  /** The SHA-256 of the token. */
  readonly digest: Uint8Array
}

/** The figures of a store that the metrics show. */
export interface Figures {
  /** How many transactions were committed since the start, and how many writes were in them. */
  readonly commits: number
  readonly writes: number
  /** SQLite: the bytes of the write-ahead log. */
  readonly walBytes?: number
  /** SQLite: whether the check of the file found no fault; undefined until the check ends. */
  readonly isSound?: boolean | undefined
  /**
   * PostgreSQL: the maximum of connections (`size`), the used ones and the idle ones. `givenUp`: used connections that the
   * service gave up, but the server has not closed. `statements` wait for their answer, `waiting` operations to be sent.
   */
  readonly pool?: Readonly<Record<'size' | 'used' | 'idle' | 'givenUp' | 'statements' | 'waiting', number>>
}

/** A plant with its owner and its id, which identify it. */
export interface Entry {
  readonly owner: string
  readonly id: bigint
  readonly plant: Plant
}

/**
 * Stores plants and access tokens. When the promise of a write is fulfilled, the write is on disk and every later call
 * sees it. Every method may fail with StoreUnavailable (errors.ts). A failed write may be done or not; it can be repeated.
 */
export interface Store {
  /** Stores a plant, unless the owner has one with this id. @returns the plant that is now stored under this id */
  create(owner: string, id: bigint, plant: Plant): Promise<Plant>
  /** The owner's plant with this id; undefined if there is none. */
  find(owner: string, id: bigint): Promise<Plant | undefined>
  /** Replaces the owner's plant with this id. @returns whether there was one */
  update(owner: string, id: bigint, plant: Plant): Promise<boolean>
  /** Deletes the owner's plant with this id. @returns whether there was one */
  delete(owner: string, id: bigint): Promise<boolean>
  /**
   * Lists the owner's plants by ascending id. The page shows one moment, even if it takes long to read.
   * @param after the id after which the page begins; the first plant if absent
   * @param limit the most plants of the page, from 1; all if absent
   */
  list(owner: string, after?: bigint, limit?: number): Promise<Page>
  /** The next plants of all owners, by owner and id, after an entry or from the first. Empty after the last one. */
  entries(after?: Entry): Promise<Entry[]>

  /** Stores an access token. */
  addToken(token: StoredToken): Promise<void>
  /** The access token with this digest, expired or not; undefined if there is none. */
  findToken(digest: Uint8Array): Promise<StoredToken | undefined>
  /** All access tokens, also expired ones, the oldest first. */
  listTokens(): Promise<StoredToken[]>
  /** Deletes the access token with this id. @returns whether there was one */
  deleteToken(id: string): Promise<boolean>

  /** Checks that the store can be read. */
  ping(): Promise<void>
  /** The current figures, without a query. */
  figures(): Figures
  /** Whether the store has neither plants nor tokens. */
  isEmpty(): Promise<boolean>
  /** Waits for the writes under way, then closes the store. May be called again. */
  close(): Promise<void>
}
