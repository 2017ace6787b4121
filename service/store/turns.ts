import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Keeps the long lists of one owner from slowing other requests down. In each turn of the event loop only one step of
 * these lists begins. After a request, the next step waits until the last one has ended, and then for as long as it took.
 */
export class Turns {
  readonly #getRequests: () => number
  #requests = 0
  #next: Promise<unknown> = Promise.resolve()

  /** @param getRequests returns how many requests have come */
  constructor(getRequests: () => number) {
    this.#getRequests = getRequests
  }

  /** Runs a step of a list when its turn has come. @returns its value */
  async run<Value>(step: () => Promise<Value>): Promise<Value> {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const turn = this.#next
    this.#next = promise
    await turn
    const begun = performance.now()
    const value = step()
    void this.#pause(begun, value).then(() => resolve(undefined))
    return value
  }

  /** @param begun when the step began */
  async #pause(begun: number, step: Promise<unknown>): Promise<void> {
    await nextTurn() // To write what the step has read is part of its time.
    const requests = this.#getRequests()
    if (requests === this.#requests) return
    this.#requests = requests
    await Promise.allSettled([step])
    const end = performance.now()
    while (performance.now() - end < end - begun) {
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
}
