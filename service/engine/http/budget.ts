import type { ServerResponse } from 'node:http'
import { TOO_BUSY } from './error-answers.ts'

/** Memory that all requests of the process share. Each takes its part, until its response is closed. */
export class Budget {
  readonly #max: number
  readonly #parts = new Map<string, number>()
  #taken = 0

  /** @param max in bytes */
  constructor(max: number) {
    this.#max = max
  }

  /**
   * Takes bytes until a response is closed, however it ends. No caller has more than is left: so one
   * of them takes half at most, and there is room for others. A request that takes more than there
   * is gets it while no other one has any.
   * @param caller whose request it is; those without credentials are one
   * @throws {HttpError} 503 if too many are taken
   */
  take(response: ServerResponse, caller: string, bytes: number): void {
    const part = (this.#parts.get(caller) ?? 0) + bytes
    if (this.#taken > 0 && part > this.#max - this.#taken - bytes) throw TOO_BUSY
    this.#add(caller, bytes)
    response.on('close', () => this.#add(caller, -bytes))
  }

  #add(caller: string, bytes: number): void {
    this.#taken += bytes
    const part = (this.#parts.get(caller) ?? 0) + bytes
    if (part === 0) this.#parts.delete(caller)
    else this.#parts.set(caller, part)
  }
}
