// Makes valid values of schemas: at random or in a series for tests, and plain ones as examples.
import fc from 'fast-check'
import { PlainChoices, RandomChoices, type Uses } from './choices.ts'
import { Maker } from './maker.ts'
import { NONE, type Schema, type SchemaReader } from './schema.ts'

export class Samples {
  readonly #reader: SchemaReader
  readonly #fallbacks = new WeakMap<Schema, { readonly value: unknown }>()

  constructor(reader: SchemaReader) {
    this.#reader = reader
  }

  /** Makes valid values of a schema; undefined if `listOf` has none. */
  arbitraryOf(schema: Schema): fc.Arbitrary<unknown> {
    return fc.gen().map((choose) => {
      const choices = new RandomChoices(this.#reader, choose)
      const value = new Maker(this.#reader).valueOf(schema, choices)
      return value === NONE ? structuredClone(this.#fallbackOf(schema)) : value
    })
  }

  /** A few valid values, the same in each run; none if none is found. */
  listOf(schema: Schema, count = 1): unknown[] {
    const uses: Uses = new Map()
    const values = fc.gen().map((choose) => {
      const choices = new RandomChoices(this.#reader, choose, uses)
      return new Maker(this.#reader, uses).valueOf(schema, choices)
    })
    const samples = fc.sample(values, { numRuns: Math.max(count, 5), seed: 1 })
    return samples.filter((value) => value !== NONE).slice(0, count)
  }

  /** A valid value for people to read, the same in each run; undefined if none is found. */
  exampleOf(schema: Schema): unknown {
    const values = fc.gen().map((choose) => {
      const plain = {
        reader: this.#reader,
        random: new RandomChoices(this.#reader, choose),
        level: 0,
        around: new Set<unknown>(),
        hasListed: true,
        hasOptional: true,
        turn: 0,
      }
      return new Maker(this.#reader).valueOf(schema, new PlainChoices(plain))
    })
    const [example] = fc.sample(values, { numRuns: 1, seed: 1 })
    return example === NONE ? undefined : example
  }

  #fallbackOf(schema: Schema): unknown {
    const fallback = this.#fallbacks.get(schema) ?? { value: this.listOf(schema, 20)[0] }
    this.#fallbacks.set(schema, fallback)
    return fallback.value
  }
}
