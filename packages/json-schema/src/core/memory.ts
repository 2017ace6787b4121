// The results of recursive schemas within one evaluation: see `memoize.ts`.
import type { Key } from './validation-error.ts'

/** The place of a value. One object may stand at several places. */
interface Place {
  readonly container: object
  readonly key: Key
}

/** A result with neither is the same at each place of its value. */
interface AtPlace {
  readonly annotations: unknown
  readonly error: unknown
}

type Remembered<Result> = Result & Partial<Place>

/** The results of one schema. */
export class SchemaResults<Result extends AtPlace> {
  /** In a parsed value, each object and list stands at one place. */
  readonly byValue = new Map<object, Remembered<Result>>()
  /** The results for further places of the same object: by container, then by key. */
  #further: Map<object, Map<Key, Remembered<Result>>> | undefined

  find(value: object, place: Place): Result | undefined {
    const result = this.byValue.get(value)
    if (result === undefined || isAt(result, place)) return result
    return this.#further?.get(place.container)?.get(place.key)
  }

  add(value: object, { container, key }: Place, result: Result): void {
    const hasPlace = result.annotations !== undefined || result.error !== undefined
    const remembered = hasPlace ? { ...result, container, key } : result
    const first = this.byValue.get(value)
    if (first === undefined || isAt(first, { container, key })) {
      this.byValue.set(value, remembered)
      return
    }
    this.#further ??= new Map()
    const byKey = this.#further.get(container) ?? new Map<Key, Remembered<Result>>()
    this.#further.set(container, byKey.set(key, remembered))
  }
}

function isAt(result: Partial<Place>, { container, key }: Place): boolean {
  return result.container === undefined || (result.container === container && result.key === key)
}

/** The results of all schemas. */
export class Memory<Result extends AtPlace> {
  readonly #results = new Map<object, SchemaResults<Result>>()
  readonly #resultsOfCollectAll = new Map<object, SchemaResults<Result>>()
  /** The values with results, in order. Only while one schema has results. */
  readonly #values: object[] = []
  #only: SchemaResults<Result> | undefined
  #isForgetful = true

  /** @param evaluate the evaluation of the schema */
  resultsOf(evaluate: object, isCollectAll: boolean): SchemaResults<Result> {
    const bySchema = isCollectAll ? this.#resultsOfCollectAll : this.#results
    const earlier = bySchema.get(evaluate)
    if (earlier !== undefined) return earlier
    const results = new SchemaResults<Result>()
    bySchema.set(evaluate, results)
    if (this.#only !== undefined) this.#isForgetful = false
    this.#only ??= results
    return results
  }

  /** The number of results which may be forgotten. */
  get length(): number {
    return this.#values.length
  }

  note(value: object): void {
    if (this.#isForgetful) this.#values.push(value)
  }

  /**
   * Forgets the results inside a value, now that it has its own. A second schema could need them again, at each level of
   * the value: as soon as one has results, nothing more is forgotten. So each value is evaluated twice at most.
   * @param length of the memory before the value was evaluated
   * @returns the number of forgotten results
   */
  forgetSince(length: number): number {
    if (!this.#isForgetful) return 0
    const count = this.#values.length - length
    for (let at = length; at < this.#values.length; at += 1) {
      const value = this.#values[at]
      if (value !== undefined) this.#only?.byValue.delete(value)
    }
    this.#values.length = length
    return count
  }
}
