import type { ServerResponse } from 'node:http'
import { TOO_BUSY } from './error-answers.ts'

/** Memory that all requests of the process share. Each takes its part, until its response is closed. */
export class Budget {
  readonly #max: number
  #taken = 0

  /** @param max in bytes */
  constructor(max: number) {
    this.#max = max
  }

  /**
   * Takes bytes until a response is closed, however it ends. A request that takes more than there is
   * gets it while no other one has any.
   * @throws {HttpError} 503 if too many are taken
   */
  take(response: ServerResponse, bytes: number): void {
    if (this.#taken > 0 && this.#taken + bytes > this.#max) throw TOO_BUSY
    this.#taken += bytes
    response.on('close', () => (this.#taken -= bytes))
  }
}
