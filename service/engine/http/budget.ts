import type { ServerResponse } from 'node:http'
import { TOO_BUSY } from './error-answers.ts'

/** Memory that all requests of the process share. A request takes its part until its response is closed. */
export class Budget {
  readonly #max: number
  readonly #parts = new Map<string, number>()
  #taken = 0

  /** @param max in bytes */
  constructor(max: number) {
    this.#max = max
  }

  /**
   * Takes bytes until a response is closed, however it ends. The part of a caller is never larger than the rest that is
   * free. So a caller has half of the budget at most, and there is room for others. While no request has bytes, the
   * next one gets as many as it needs.
   * @param caller the caller of the request; all requests without credentials have the same empty caller
   * @throws {HttpError} 503 if too few bytes are free
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
