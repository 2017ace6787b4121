// Looks for an order of simultaneous operations that explains their answers. Each takes place between its start and its end.
// See Herlihy and Wing, Linearizability, https://doi.org/10.1145/78969.78972.

/** The times of an operation, all from one clock. */
export interface Timed {
  readonly start: number
  /** The time of the answer; Infinity without one, or if it leaves the effect open. */
  readonly end: number
}

/** What is stored, and what operations do with it. Equal states are equal strings. */
export interface Model<Operation> {
  readonly initial: string
  /** Whether an operation changes nothing. */
  readonly isRead: (operation: Operation) => boolean
  /** Whether the answer of an operation is right in a state. */
  readonly fits: (operation: Operation, state: string) => boolean
  readonly after: (operation: Operation, state: string) => string
}

/** A possible course of events: the state, and the open operations with an effect. */
interface Candidate<Operation> {
  readonly state: string
  readonly done: ReadonlySet<Operation>
}

/** Looks for an order. */
export class OrderSearch<Operation extends Timed> {
  readonly #model: Model<Operation>

  constructor(model: Model<Operation>) {
    this.#model = model
  }

  /** The first operation whose end leaves no candidate; undefined if an order explains all answers. */
  firstViolation(operations: readonly Operation[]): Operation | undefined {
    const events = operations.flatMap((operation) => [
      { operation, at: operation.start, isEnd: false },
      { operation, at: operation.end, isEnd: true },
    ])
    events.sort((left, two) => left.at - two.at || Number(left.isEnd) - Number(two.isEnd))
    const open = new Set<Operation>()
    let candidates: Candidate<Operation>[] = [{ state: this.#model.initial, done: new Set() }]
    for (const { operation, at, isEnd } of events) {
      if (at === Infinity) break // nobody knows which of the other operations were done
      if (isEnd) {
        candidates = this.#complete(operation, candidates, open)
        open.delete(operation)
        if (candidates.length === 0) return operation
      } else {
        open.add(operation)
        candidates = candidates.map(({ state, done }) => this.#arrive(state, done, [operation]))
      }
    }
    return undefined
  }

  /** The shortest candidates in which an operation is done. Other open operations may be done before it. */
  #complete(
    operation: Operation,
    candidates: readonly Candidate<Operation>[],
    open: ReadonlySet<Operation>,
  ) {
    const { isRead, fits, after } = this.#model
    const kept: Candidate<Operation>[] = []
    const tried = new Map<string, Candidate<Operation>[]>()
    const queue = [...candidates]
    for (const candidate of queue) {
      const { state, done } = candidate
      const earlier = tried.get(state) ?? []
      if (earlier.some((reached) => this.#isNoWorse(reached, candidate))) continue
      tried.set(state, [...earlier, candidate])
      if (done.has(operation)) {
        kept.push({ state, done: done.difference(new Set([operation])) })
        continue
      }
      const next = [...open].filter((call) => !isRead(call) && !done.has(call) && fits(call, state))
      queue.push(
        ...next.map((call) => this.#arrive(after(call, state), new Set([...done, call]), open)),
      )
    }
    return kept
  }

  /** Whether a candidate can continue in all ways of another one at the same state. */
  #isNoWorse(candidate: Candidate<Operation>, second: Candidate<Operation>): boolean {
    const extra = [...candidate.done.difference(second.done)]
    const missing = [...second.done.difference(candidate.done)]
    return extra.every(this.#model.isRead) && missing.every(({ end }) => end === Infinity)
  }

  /** A candidate at a state. All open reads that fit the state are done at once: waiting would gain nothing. */
  #arrive(
    state: string,
    done: ReadonlySet<Operation>,
    open: Iterable<Operation>,
  ): Candidate<Operation> {
    const { isRead, fits } = this.#model
    const reads = [...open].filter((call) => isRead(call) && fits(call, state))
    return { state, done: new Set([...done, ...reads]) }
  }
}
