// The resources that all requests of the process share.
import { CLIENT_LEFT, TOO_BUSY } from './error-answers.ts'
import type { Exchange } from './exchange.ts'

/** A resource, of which each client holds a share. A client that holds nothing is forgotten. */
export class Shares {
  readonly #shares = new Map<string, number>()
  #total = 0

  get total(): number {
    return this.#total
  }

  of(client: string): number {
    return this.#shares.get(client) ?? 0
  }

  /** Takes an amount for a request, until its response is closed, or until it is given back. A closed response takes nothing. */
  take(exchange: Exchange, amount: number): void {
    const { client, response } = exchange
    if (response.closed) return
    const held = (exchange.held ??= new Map<Shares, number>())
    held.set(this, amount + (held.get(this) ?? 0))
    this.#add(client, amount)
  }

  /** Gives back what a request holds. */
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

/** Memory that all requests of the process share. */
export class Budget extends Shares {
  readonly #max: number

  /** @param max in bytes */
  constructor(max: number) {
    super()
    this.#max = max
  }

  /**
   * Takes bytes for a request. A client may hold at most as many bytes as are still free, and so at most half: there is room
   * for others. While no request holds bytes, the next one gets as many as it needs.
   * @throws {HttpError} 503 if too few bytes are free, 400 if the client has left
   */
  override take(exchange: Exchange, bytes: number): void {
    if (exchange.response.closed) throw CLIENT_LEFT
    const share = this.of(exchange.client) + bytes
    if (this.total > 0 && share > this.#max - this.total - bytes) throw TOO_BUSY
    super.take(exchange, bytes)
  }

  /** Takes bytes, and then gives back those of another budget. @throws {HttpError} as `take` does */
  takeInPlaceOf(budget: Budget, exchange: Exchange, bytes: number): void {
    this.take(exchange, bytes)
    budget.giveBack(exchange)
  }

  /**
   * Checks that there is room for bytes that are given back before any other request goes on: they are not taken. While no
   * other client holds bytes, there is as much room as if nothing was taken.
   * @throws {HttpError} 503 if too few bytes are free
   */
  checkRoom(exchange: Exchange, bytes: number): void {
    const isAlone = this.total === this.of(exchange.client)
    const free = isAlone ? this.#max : this.#max - this.total
    if (bytes > free) throw TOO_BUSY
  }
}
