// Reads compiled schemas for the generator of values.
import {
  type Check,
  type Formats,
  isIntegerFormat,
  isObject,
  type Schema as CompiledSchema,
  Validator,
} from '@plant-store/json-schema'
import { Samples } from './samples.ts'
import type { Schema, SchemaReader } from './schema.ts'

/** What a compiled schema lacks. */
interface Beside {
  /** The formats of a product, beside those of ajv-formats. */
  readonly formats?: Formats
  /** The examples of a schema in the document. */
  readonly examplesOf?: (schema: Schema) => readonly unknown[]
}

/** Makes values of compiled schemas. @param compiled by id: references are ids */
export function samplesOfCompiled(
  compiled: Readonly<Record<string, CompiledSchema>>,
  beside: Beside = {},
): Samples {
  return new Samples(new CompiledReader(compiled, beside))
}

class CompiledReader implements SchemaReader {
  readonly #compiled: Readonly<Record<string, CompiledSchema>>
  readonly #validator: Validator
  readonly #examplesOf: NonNullable<Beside['examplesOf']>
  readonly #read = new WeakMap<Schema, Schema>()
  readonly #checks = new WeakMap<Schema, Check>()

  constructor(compiled: Readonly<Record<string, CompiledSchema>>, beside: Beside) {
    const { formats = {}, examplesOf = () => [] } = beside
    this.#compiled = compiled
    this.#examplesOf = examplesOf
    this.#validator = new Validator(compiled, 'storing', formats)
  }

  read(schema: Schema): Schema {
    const earlier = this.#read.get(schema)
    if (earlier !== undefined) return earlier
    const examples = this.#examplesOf(schema)
    const read = { ...schema, ...typesOf(schema), ...(examples.length > 0 && { examples }) }
    this.#read.set(schema, read)
    return read
  }

  referred({ $ref }: Schema): Schema | undefined {
    const target = typeof $ref === 'string' ? this.#compiled[$ref] : undefined
    if (target === false) return NOTHING
    return isObject(target) ? target : undefined
  }

  /** @returns false, too, for a schema with an error, which has been reported */
  isValid(schema: Schema, value: unknown): boolean {
    try {
      const check = this.#checks.get(schema) ?? this.#validator.compile('value', schema)
      this.#checks.set(schema, check)
      return check(value).error === undefined
    } catch {
      return false
    }
  }
}

const NOTHING: Schema = { not: {} }

/** The types of a schema. A format of integers takes the place of `integer` or `number`. */
function typesOf({ type, format }: Schema): { readonly types?: readonly string[] } {
  if (type === undefined) return {}
  const types = [type].flat().map(String)
  if (typeof format !== 'string' || !isIntegerFormat(format)) return { types }
  const formatted = types.includes('integer') ? 'integer' : 'number'
  return { types: types.map((name) => (name === formatted ? format : name)) }
}
