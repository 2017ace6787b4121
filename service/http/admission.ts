import type { FastifyBaseLogger } from 'fastify'

/**
 * How many requests begin in one turn of the event loop, and how many are refused. Node accepts one new connection in a
 * turn, however long it is. Who is refused asks again: without a bound, to refuse would be all that is done.
 */
const MAX_BEGUN = 64
const MAX_REFUSED = 24
/** Milliseconds after which a request that waits for its turn will be refused, and how many may wait. */
const WAIT_TIMEOUT = 500
const MAX_WAITING = 5000

interface Waiting {
  readonly since: number
  readonly begin: () => void
  readonly refuse: () => void
}

/**
 * Admission control. Only so many requests begin in one turn of the event loop: turns are short, however many clients
 * there are, and new connections and health checks get theirs. The rest waits in order; what has waited too long is refused.
 */
export class Admission {
  readonly #log: FastifyBaseLogger
  readonly #onRefused: () => void
  /** Those who wait, the oldest first. */
  readonly #waiting: Waiting[] = []
  /** How many were begun since `#next`, and whether it is to come. */
  #begun = 0
  #isNextDue = false
  /** How many were refused since the last line of the log. */
  #refused = 0

  /** @param onRefused called for each refusal */
  constructor(log: FastifyBaseLogger, onRefused: () => void) {
    this.#log = log
    this.#onRefused = onRefused
  }

  /** Begins a request, at once or in a later turn, or refuses it. Without a way to refuse it, it begins in any case. */
  pass(begin: () => void, refuse = begin): void {
    if (this.#begun < MAX_BEGUN) {
      this.#begun += 1
      // The next turn counts anew. That is not asked for by each request, but by some together.
      if (this.#begun > MAX_BEGUN / 2) this.#callNext()
      begin()
    } else if (this.#waiting.length < MAX_WAITING) {
      this.#waiting.push({ since: performance.now(), begin, refuse })
    } else this.#refuse(refuse)
  }

  /** Counts a refusal, and logs the count of a second in one line: a line for each would be a load of its own. */
  countRefusal(): void {
    this.#onRefused()
    if (this.#refused++ > 0) return
    setTimeout(() => {
      this.#log.warn({ msg: 'too busy', refused: this.#refused })
      this.#refused = 0
    }, 1000).unref()
  }

  #refuse(refuse: () => void): void {
    refuse()
    this.countRefusal()
  }

  #callNext(): void {
    if (this.#isNextDue) return
    this.#isNextDue = true
    setImmediate(() => {
      this.#isNextDue = false
      this.#next()
    })
  }

  #next(): void {
    this.#begun = 0
    if (this.#waiting.length === 0) return
    this.#callNext()
    const oldest = performance.now() - WAIT_TIMEOUT
    const inTime = this.#waiting.findIndex(({ since }) => since > oldest)
    const late = inTime === -1 ? this.#waiting.length : inTime
    for (const { refuse } of this.#waiting.splice(0, Math.min(late, MAX_REFUSED))) this.#refuse(refuse)
    const turn = this.#waiting.splice(Math.max(0, late - MAX_REFUSED), MAX_BEGUN)
    this.#begun = turn.length
    for (const { begin } of turn) begin()
  }
}
