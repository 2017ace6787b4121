/** Milliseconds after its last wait for which an owner counts as held up, unless its write succeeds before. */
const HELD_TTL = 60_000

/** A row that somebody else holds. */
interface Row {
  readonly owner: string
  readonly key: unknown
}

/**
 * The owners whose writes wait for locks that others hold: on another replica, or an administrator. Such a write shares no
 * transaction with those of other owners, who would wait for it.
 */
export class HeldOwners {
  /** The row that each waits for, and the time until which it counts. The oldest is first. */
  readonly #owners = new Map<string, { readonly key: unknown; readonly until: number }>()

  /** A write has waited for a row too long. */
  add({ owner, key }: Row): void {
    this.#owners.delete(owner) // it goes to the end
    this.#owners.set(owner, { key, until: performance.now() + HELD_TTL })
    for (const [name, { until }] of this.#owners) {
      if (until > performance.now()) break
      this.#owners.delete(name)
    }
  }

  /** A row was written. */
  release({ owner, key }: Row): void {
    if (this.#owners.get(owner)?.key === key) this.#owners.delete(owner)
  }

  has(owner: string): boolean {
    const until = this.#owners.get(owner)?.until ?? -Infinity
    return until > performance.now()
  }
}
