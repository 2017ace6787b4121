// Remembers the owners whose writes wait for locks of others.
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from './pool.ts'

/** The part of an operation's time before the next try of a write that was held up. */
const PAUSE = 0.02
/**
 * The same with only one connection for writes. The others have it then: four times as long as a
 * wait for a lock.
 */
const PAUSE_OF_ONE = 0.4

/**
 * Milliseconds after its last wait for which an owner counts as held up, unless its write succeeds
 * before.
 */
const HELD_TTL = 60_000

interface Row {
  readonly owner: string
  readonly key: unknown
}

/**
 * The owners whose writes wait for locks: of another replica, or of an administrator. Such a write
 * shares no transaction with other owners, who would wait for it.
 */
export class HeldOwners {
  /** By owner: the locked row, and the time until which it counts. The oldest is first. */
  readonly #owners = new Map<string, { readonly key: unknown; readonly until: number }>()

  /** Call it when a write has waited for a row too long. */
  add({ owner, key }: Row): void {
    this.#owners.delete(owner)
    this.#owners.set(owner, { key, until: performance.now() + HELD_TTL })
    for (const [name, { until }] of this.#owners) {
      if (until > performance.now()) break
      this.#owners.delete(name)
    }
  }

  /** Call it when a row was written. */
  release({ owner, key }: Row): void {
    if (this.#owners.get(owner)?.key === key) this.#owners.delete(owner)
  }

  has(owner: string): boolean {
    const until = this.#owners.get(owner)?.until ?? -Infinity
    return until > performance.now()
  }
}

/** Leaves the connection to others, after a write that was held up. */
export async function pause({ parallelWrites, timeout }: Pick<Pool, 'parallelWrites' | 'timeout'>) {
  const part = parallelWrites === 1 ? PAUSE_OF_ONE : PAUSE
  await delay(timeout * part, undefined, { ref: false })
}
