// Logs a reason once, though many requests fail for it.

/** Milliseconds after which a lasting reason is logged again. */
const REPEAT_INTERVAL = 60_000
const MAX_REASONS = 100

/** The common reasons of many faults: one line says it for all, and another one each minute while it goes on. */
export class RepeatedReasons {
  /**
   * When each was logged, on the clock of `performance.now()`, and how often it has come since. The
   * oldest is first.
   */
  readonly #reasons = new Map<string, { readonly logged: number; repeated: number }>()

  /**
   * Counts a reason.
   * @returns how often it has come since its last line; undefined if it needs no line now
   */
  note(reason: string): number | undefined {
    const last = this.#reasons.get(reason)
    if (last !== undefined && performance.now() - last.logged < REPEAT_INTERVAL) {
      last.repeated += 1
      return undefined
    }
    this.#reasons.delete(reason) // it goes to the end
    this.#reasons.set(reason, { logged: performance.now(), repeated: 0 })
    const [oldest] = this.#reasons.keys()
    if (oldest !== undefined && this.#reasons.size > MAX_REASONS) this.#reasons.delete(oldest)
    return last?.repeated ?? 0
  }
}
