import type { FastifyBaseLogger } from 'fastify'
import type { Traffic } from './traffic.ts'

declare module 'fastify' {
  interface FastifyInstance {
    gate: Gate
  }
}

/**
 * How many requests begin in one turn of the event loop, and how many are refused. Node accepts one new connection in a
 * turn, however long it is. Who is refused asks again: without a bound, to refuse would be all that is done.
 */
const AT_ONCE = 64
const REFUSED_AT_ONCE = 24
/** Milliseconds after which a request that waits for its turn will be refused, and how many may wait. */
const LONGEST_WAIT = 500
const MOST_WAITING = 5000

interface Waiting {
  readonly since: number
  readonly begin: () => void
  readonly refuse: () => void
}

/**
 * The way in. Only so many requests begin in one turn of the event loop: turns are short, however many clients there
 * are, and new connections and health checks get theirs. The rest waits in order; what has waited too long is refused.
 */
export class Gate {
  readonly #log: FastifyBaseLogger
  readonly #traffic: Pick<Traffic, 'shed'>
  readonly #waiting: Waiting[] = []
  /** Those that have waited too long. */
  readonly #late: Waiting[] = []
  /** How many were begun since `#next`, and whether it is to come. */
  #begun = 0
  #isNextDue = false
  #logged = 0

  /** @param traffic where the refusals are counted */
  constructor(log: FastifyBaseLogger, traffic: Pick<Traffic, 'shed'>) {
    this.#log = log
    this.#traffic = traffic
  }

  /** Whether one more may begin at once. It is counted then. */
  tryBegin(): boolean {
    if (this.#begun === AT_ONCE) return false
    this.#begun += 1
    // The next turn counts anew. That is not asked for by each request, but by some together.
    if (this.#begun > AT_ONCE / 2) this.#callNext()
    return true
  }

  /** Begins a request, at once or later, or refuses it. Without a way to refuse it, it begins in any case. */
  pass(begin: () => void, refuse = begin): void {
    if (this.tryBegin()) begin()
    else this.wait(begin, refuse)
  }

  /** Begins a request in a later turn, or refuses it. */
  wait(begin: () => void, refuse: () => void): void {
    if (this.#waiting.length + this.#late.length < MOST_WAITING) {
      this.#waiting.push({ since: performance.now(), begin, refuse })
    } else this.refuse(refuse)
  }

  /** Counts a refusal, and logs the count of a second in one line: a line for each would be a load of its own. */
  refuse(how: () => void): void {
    how()
    if (this.#traffic.shed++ === this.#logged) {
      setTimeout(() => {
        this.#log.warn({ msg: 'too busy', refused: this.#traffic.shed - this.#logged })
        this.#logged = this.#traffic.shed
      }, 1000).unref()
    }
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
    if (this.#waiting.length + this.#late.length === 0) return
    this.#callNext()
    const oldest = performance.now() - LONGEST_WAIT
    const inTime = this.#waiting.findIndex(({ since }) => since > oldest)
    this.#late.push(...this.#waiting.splice(0, inTime === -1 ? Infinity : inTime))
    for (const { refuse } of this.#late.splice(0, REFUSED_AT_ONCE)) this.refuse(refuse)
    const turn = this.#waiting.splice(0, AT_ONCE)
    this.#begun = turn.length
    for (const { begin } of turn) begin()
  }
}
