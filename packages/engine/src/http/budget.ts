// The memory shared by all requests of the process, and the part of bodies in it. deploy/README.md adds it up.
import { HttpError } from '../errors.ts'
import { CLIENT_LEFT, TOO_BUSY } from './error-answers.ts'
import type { Exchange } from './exchange.ts'

export const TOO_LONG = new HttpError(413, 'The body is too long')

/** The most bytes of all arriving bodies together: a slow client holds the announced length of its body. */
const MAX_UNDER_WAY = 64 * 1024 * 1024
/** The most bytes of memory of all parsed bodies together, until their methods have answered. */
const MAX_PARSED = 128 * 1024 * 1024
/** The bytes held by a stream of bytes: the buffer of the connection, and the piece in the hands of the method. */
const MAX_STREAM = 128 * 1024
/**
 * The most bytes of memory for a byte of parsed JSON. In objects such as `{"a1":0},`, each with another name, it takes 25.
 */
const JSON_FACTOR = 26
/** The most bytes of memory for a byte of any other string, with the string itself. */
const STRING_FACTOR = 3

/** A resource, of which each client holds a share. A client without one is forgotten. */
export class Shares {
  readonly #shares = new Map<string, number>()
  #total = 0

  get total(): number {
    return this.#total
  }

  of(client: string): number {
    return this.#shares.get(client) ?? 0
  }

  /**
   * Takes an amount for a request, until its response is closed, or until it is given back. A
   * closed response takes nothing.
   */
  take(exchange: Exchange, amount: number): void {
    const { client, response } = exchange
    if (response.closed) return
    const held = (exchange.held ??= new Map<Shares, number>())
    held.set(this, amount + (held.get(this) ?? 0))
    this.#add(client, amount)
  }

  /** Gives back everything held by a request. */
  giveBack(exchange: Exchange): void {
    const { client, held } = exchange
    const amount = held?.get(this)
    if (amount === undefined) return
    held?.delete(this)
    this.#add(client, -amount)
  }

  #add(client: string, amount: number): void {
    this.#total += amount
    const share = this.of(client) + amount
    if (share === 0) this.#shares.delete(client)
    else this.#shares.set(client, share)
  }
}

export class Budget extends Shares {
  readonly #max: number

  /** @param max in bytes */
  constructor(max: number) {
    super()
    this.#max = max
  }

  /**
   * Takes bytes for a request. A client may hold at most as many bytes as are still free, and so at
   * most half: there is room for others. While no request holds bytes, the next one gets as many as
   * it needs.
   * @throws {HttpError} 503 if too few bytes are free, 400 if the client has left
   */
  override take(exchange: Exchange, bytes: number): void {
    if (exchange.response.closed) throw CLIENT_LEFT
    const share = this.of(exchange.client) + bytes
    if (this.total > 0 && share > this.#max - this.total - bytes) throw TOO_BUSY
    super.take(exchange, bytes)
  }

  /**
   * Takes bytes, and then gives back those of another budget. @throws {HttpError} as `take` does
   */
  takeInPlaceOf(budget: Budget, exchange: Exchange, bytes: number): void {
    this.take(exchange, bytes)
    budget.giveBack(exchange)
  }

  /**
   * Checks the room for bytes which are not taken, because they are free again before any other request goes on. While no
   * other client holds bytes, there is as much room as if nothing was taken.
   * @throws {HttpError} 503 if too few bytes are free
   */
  checkRoom(exchange: Exchange, bytes: number): void {
    const isAlone = this.total === this.of(exchange.client)
    const free = isAlone ? this.#max : this.#max - this.total
    if (bytes > free) throw TOO_BUSY
  }
}

const underWay = new Budget(MAX_UNDER_WAY)
const parsed = new Budget(MAX_PARSED)

/**
 * Makes room for a body, before it is read.
 * @param length of the body in bytes, or the longest allowed one
 * @param isStream whether a method reads it piece by piece
 * @throws {HttpError} 503 if the bodies of others take all room, 400 if the client has left
 */
export function reserveBody(exchange: Exchange, length: number, isStream: boolean): void {
  const bytes = isStream ? Math.min(length, MAX_STREAM) : length
  underWay.take(exchange, bytes)
}

/** Gives back the room of a stream of bytes after its end. */
export function releaseBody(exchange: Exchange): void {
  underWay.giveBack(exchange)
}

/**
 * Makes room for the value of a body, in place of the room of its bytes.
 * @param length of the body in bytes
 * @throws {HttpError} 503 if the bodies of others take all room, 400 if the client has left
 */
export function reserveValue(exchange: Exchange, length: number, isJson: boolean): void {
  const factor = isJson ? JSON_FACTOR : STRING_FACTOR
  const bytes = length * factor
  parsed.takeInPlaceOf(underWay, exchange, bytes)
}

/** Gives back the room of a value after its method. */
export function releaseValue(exchange: Exchange): void {
  parsed.giveBack(exchange)
}

/**
 * Makes room for the evaluation of a value by its schema. It ends before any other request goes on, so nothing stays taken.
 * @param bytes held by the evaluation by now, beside the value
 * @throws {HttpError} 503 if the bodies of others take all room, 413 if the room for all would not suffice
 */
export function reserveEvaluation(exchange: Exchange, bytes: number): void {
  if (bytes > MAX_PARSED) throw TOO_LONG
  parsed.checkRoom(exchange, bytes)
}
