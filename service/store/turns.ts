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
    const getTime = () => performance.now() - begun
    void this.#pause(value.then(getTime, getTime)).then(() => resolve(undefined))
    return value
  }

  /** @param took resolves to the milliseconds of the last step */
  async #pause(took: Promise<number>): Promise<void> {
    await nextTurn()
    const requests = this.#getRequests()
    if (requests === this.#requests) return
    this.#requests = requests
    const time = await took
    for (const end = performance.now() + time; performance.now() < end;) {
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
}
