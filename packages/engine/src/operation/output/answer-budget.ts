// The memory of answers. deploy/README.md adds it to the other memory of the service.
import { Shares } from '../../http/budget.ts'
import type { Exchange } from '../../http/exchange.ts'

/** The most bytes of all untaken answers together, of those sent whole. */
const MAX_UNTAKEN = 64 * 1024 * 1024

/** The untaken answers, of those sent whole. */
class UntakenAnswers {
  readonly #bytes = new Shares()
  /** By client, the oldest first. */
  readonly #answers = new Map<string, Set<Exchange>>()

  get bytes(): number {
    return this.#bytes.total
  }

  add(exchange: Exchange): void {
    const { client, reply } = exchange
    const length = Number(reply.getHeader('content-length')) || 0 // NaN would end the count for good
    this.#bytes.take(exchange, length)
    const answers = this.#answers.get(client) ?? new Set()
    this.#answers.set(client, answers.add(exchange))
    exchange.onEnd(() => this.remove(exchange))
  }

  remove(exchange: Exchange): void {
    const { client } = exchange
    this.#bytes.giveBack(exchange)
    const answers = this.#answers.get(client)
    answers?.delete(exchange)
    if (answers?.size === 0) this.#answers.delete(client)
  }

  /** The oldest answer of the client with most bytes. */
  oldestOfMost(): Exchange | undefined {
    let most = -1
    let answersOfMost: ReadonlySet<Exchange> | undefined
    for (const [client, answers] of this.#answers) {
      const bytes = this.#bytes.of(client)
      if (bytes <= most) continue
      most = bytes
      answersOfMost = answers
    }
    const [oldest] = answersOfMost ?? []
    return oldest
  }
}

const untaken = new UntakenAnswers()

/**
 * Counts an answer that was sent whole, until its client has taken it. Beyond the bound, the oldest
 * answers of the client with the most bytes are broken off: nobody loses an answer because of other
 * clients. The newest answer of all stays, because its client had no time to take it.
 */
export function countAnswer(exchange: Exchange): void {
  untaken.add(exchange)
  while (untaken.bytes > MAX_UNTAKEN) {
    const oldest = untaken.oldestOfMost()
    if (oldest === undefined || oldest === exchange) return
    untaken.remove(oldest)
    oldest.breakOff(oldest.reply.log, 'answers that are not taken need its memory')
  }
}
