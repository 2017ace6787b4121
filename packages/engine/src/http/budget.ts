// The resources that all requests of the process share.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CLIENT_LEFT, TOO_BUSY } from './error-answers.ts'
import { untilClosed } from './until-closed.ts'

/** Who a request counts for: its caller or, without credentials, the address that it comes from. No caller's name has a NUL. */
export function clientOf({ caller, ip }: Pick<FastifyRequest, 'caller' | 'ip'>): string {
  return caller === '' ? `\0${ip}` : caller
}

/** The parts of a sum, by client ({@link clientOf}). A client without a part is forgotten. */
export class Parts {
  readonly #parts = new Map<string, number>()
  #total = 0

  get total(): number {
    return this.#total
  }

  of(client: string): number {
    return this.#parts.get(client) ?? 0
  }

  /** @param amount negative for what is given back */
  add(client: string, amount: number): void {
    this.#total += amount
    const part = this.of(client) + amount
    if (part === 0) this.#parts.delete(client)
    else this.#parts.set(client, part)
  }
}

/** Memory that all requests of the process share. A request takes one part, until its response is closed or earlier. */
export class Budget {
  readonly #max: number
  readonly #parts = new Parts()
  readonly #ends = new WeakMap<FastifyReply, () => void>()

  /** @param max in bytes */
  constructor(max: number) {
    this.#max = max
  }

  /**
   * Takes bytes for a request. The part of a client is never larger than the rest that is free. So a client has half of the
   * budget at most, and there is room for others. While no request has bytes, the next one gets as many as it needs.
   * @throws {HttpError} 503 if too few bytes are free, 400 if the client has left
   */
  take(reply: FastifyReply, bytes: number): void {
    if (reply.raw.closed) throw CLIENT_LEFT
    const client = clientOf(reply.request)
    const { total } = this.#parts
    const part = this.#parts.of(client) + bytes
    if (total > 0 && part > this.#max - total - bytes) throw TOO_BUSY
    this.#parts.add(client, bytes)
    this.#ends.set(
      reply,
      untilClosed(reply.raw, () => this.#parts.add(client, -bytes)),
    )
  }

  /**
   * Checks that there is room for bytes that are given back before any other request goes on: they are not taken. While no
   * other client has bytes, there is as much room as if nothing was taken.
   * @throws {HttpError} 503 if too few bytes are free
   */
  checkRoom(reply: FastifyReply, bytes: number): void {
    const { total } = this.#parts
    const isAlone = total === this.#parts.of(clientOf(reply.request))
    const free = isAlone ? this.#max : this.#max - total
    if (bytes > free) throw TOO_BUSY
  }

  /** Gives back the part of a request before its response is closed. A request without one has nothing to give back. */
  giveBack(reply: FastifyReply): void {
    this.#ends.get(reply)?.()
  }
}
