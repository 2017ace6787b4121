/** Requests that begin in one turn of the event loop. Turns must be short: Node accepts one new connection in each. */
const MAX_BEGUN = 64
/** Requests that are refused in one turn. Refused clients try again: without a bound, the service would only refuse. */
const MAX_REFUSED = 24
/** Milliseconds after which a request that waits for its turn is refused. */
const WAIT_TIMEOUT = 500
/** Requests that may wait. */
const MAX_WAITING = 5000

interface Waiting {
  readonly since: number
  readonly begin: () => void
  readonly refuse: () => void
}

/**
 * Admission control. A bounded number of requests begins in each turn of the event loop, so that turns stay short, and new
 * connections and health checks are served in time. Other requests wait in order. A request that waits too long is refused.
 */
export class Admission {
  readonly #waiting: Waiting[] = []
  #begun = 0
  #turn: NodeJS.Immediate | undefined

  /** Begins a request, in this turn or a later one, or refuses it. Without `refuse`, it always begins. */
  admit(begin: () => void, refuse = begin): void {
    if (this.#begun < MAX_BEGUN) {
      this.#begun += 1
      // To schedule a turn costs more than to begin most requests, so a quiet server rarely does it.
      if (this.#begun > MAX_BEGUN / 2) this.#scheduleTurn()
      begin()
    } else if (this.#waiting.length < MAX_WAITING) {
      this.#waiting.push({ since: performance.now(), begin, refuse })
    } else refuse()
  }

  #scheduleTurn(): void {
    this.#turn ??= setImmediate(() => {
      this.#turn = undefined
      this.#runTurn()
    })
  }

  #runTurn(): void {
    this.#begun = 0
    if (this.#waiting.length === 0) return
    this.#scheduleTurn()
    const oldest = performance.now() - WAIT_TIMEOUT
    const inTime = this.#waiting.findIndex(({ since }) => since > oldest)
    const late = inTime === -1 ? this.#waiting.length : inTime
    for (const { refuse } of this.#waiting.splice(0, Math.min(late, MAX_REFUSED))) refuse()
    const turn = this.#waiting.splice(Math.max(0, late - MAX_REFUSED), MAX_BEGUN)
    this.#begun = turn.length
    for (const { begin } of turn) begin()
  }
}
