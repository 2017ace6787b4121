import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { components } from '../contract/contract.ts'
import type { JsonText } from '../http/json.ts'

/** What a store reads of the configuration beside `DATABASE_URL`. */
export type Limits = Pick<Config, 'DATABASE_POOL_SIZE' | 'DATABASE_TIMEOUT'> & Partial<Pick<Config, 'NODE_ENV'>>

/** What the service gives its store. A command gives nothing of it. */
export interface Monitor {
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  /**
   * Is called once when the store can't go on before the process is started anew: after an I/O error, for example,
   * nobody knows what is on the disk. Every later call of the store is refused.
   */
  readonly onFailure: (message: string, error: unknown) => void
}

/** A plant, as it is stored and answered. */
export type Plant = components['schemas']['Plant']

/** Some plants of a list, in ascending order of their ids. */
export interface Page {
  /** All of them, as they are answered; in batches if they are too many to hold in memory. */
  readonly plants: JsonText<Plant[]> | AsyncIterable<JsonText<Plant[]>>
  /** The id of the last one, if the caller has more plants after it. */
  readonly last?: bigint
}

/** An access token, as it is stored: the token itself is not. */
export interface StoredToken {
  /** Names the token for people; the beginning of the digest. */
  readonly id: string
  readonly caller: string
  readonly created: Date
  /** Never, if absent. */
  readonly expires?: Date
  /** What it allows beyond operations that require no scope (RFC 6749, section 3.3). */
  readonly scopes: readonly string[]
  /** The SHA-256 of the token. */
  readonly digest: Uint8Array
}

/** What an operator sees of a store. */
export interface Figures {
  /** Transactions of creates, updates and deletes that are on disk, since the start, and the writes in them. */
  readonly commits: number
  readonly writes: number
  /** Bytes of the write-ahead log of an embedded store. */
  readonly walBytes?: number
  /** Whether the check of the file of an embedded store found nothing wrong; undefined until it has ended. */
  readonly isSound?: boolean | undefined
  /**
   * Connections to a server: how many there may be, are in use, are kept for use, and are in use only because the server
   * has not let go of them after they were given up. Statements not answered yet; reads and writes that wait for them.
   */
  readonly pool?: Readonly<Record<'size' | 'used' | 'idle' | 'givenUp' | 'statements' | 'waiting', number>>
}

/** A plant, with what it is known by. */
export interface Entry {
  readonly owner: string
  readonly id: bigint
  readonly plant: Plant
}

/**
 * Where plants and access tokens are kept. What a method has answered is on disk, and every later call sees it.
 * Each method may fail with {@link StoreUnavailable} (errors.ts); what it was to write is then not stored, or safe to repeat.
 */
export interface Store {
  /** Stores a plant, unless the owner has one of this id. @returns the one that the owner now has of it */
  create(owner: string, id: bigint, plant: Plant): Promise<Plant>
  /** The owner's plant of this id; undefined if there is none. */
  find(owner: string, id: bigint): Promise<Plant | undefined>
  /** Puts a plant in the place of the owner's one of this id. @returns whether there was one */
  update(owner: string, id: bigint, plant: Plant): Promise<boolean>
  /** Deletes a plant. @returns whether there was one */
  delete(owner: string, id: bigint): Promise<boolean>
  /**
   * The owner's plants after an id, or from the first one. The page is of one moment, however long it is read.
   * @param limit the most plants of the page, from 1; all if absent
   */
  list(owner: string, after?: bigint, limit?: number): Promise<Page>
  /** Some plants of all owners, ordered by owner and id, after one or from the first. After the last there are none. */
  entries(after?: Entry): Promise<Entry[]>

  /** Stores an access token. */
  addToken(token: StoredToken): Promise<void>
  /** The access token of this digest, expired or not; undefined if there is none. */
  findToken(digest: Uint8Array): Promise<StoredToken | undefined>
  /** All access tokens, expired ones too, the oldest first. */
  listTokens(): Promise<StoredToken[]>
  /** Deletes an access token. @returns whether there was one */
  deleteToken(id: string): Promise<boolean>

  /** Asks the store whether it can answer. */
  ping(): Promise<void>
  /** What an operator sees of it at the moment, without asking it. */
  figures(): Figures
  /** Whether neither a plant nor a token is stored. */
  isEmpty(): Promise<boolean>
  /** Finishes what was begun and closes. It may be repeated. */
  close(): Promise<void>
}
