import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import type { Product } from '../../service/engine/index.ts'
import { isObject } from '../../service/engine/contract/assertions.ts'
import { fields } from './fields.ts'

export { fields, isObject }

/** A JSON Schema without references. */
export type Schema = Readonly<Record<string, unknown>>

const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false })
ajvFormats.default(ajv)

/** Adds the formats of a product, before the first value is validated. */
export function addFormats(formats: Product['formats'] = {}): void {
  for (const [name, validate] of Object.entries(formats))
    ajv.addFormat(name, { type: 'string', validate })
}

// Ajv does not accept a bigint as a number, but JavaScript compares the two exactly.
const isNumber = (value: unknown) => typeof value === 'number' || typeof value === 'bigint'
const isInteger = (value: unknown) => typeof value === 'bigint' || Number.isInteger(value)
const rules: Readonly<Record<string, (rule: number | bigint, value: number | bigint) => boolean>> =
  {
    minimum: (bound, value) => value >= bound,
    maximum: (bound, value) => value <= bound,
    exclusiveMinimum: (bound, value) => value > bound,
    exclusiveMaximum: (bound, value) => value < bound,
    bits: (bits, value) =>
      !isInteger(value) || BigInt(value) === BigInt.asIntN(Number(bits), BigInt(value)),
  }
for (const [keyword, rule] of Object.entries(rules)) {
  ajv.removeKeyword(keyword)
  ajv.addKeyword({
    keyword,
    validate: (bound: bigint, value: bigint) => !isNumber(value) || rule(bound, value),
  })
}
// An integer without a format is a `number`, like its type in TypeScript.
const fits = (bits: number, value: unknown) =>
  isInteger(value) && (bits === 64 || Number(value) == value)
ajv.addKeyword({ keyword: 'integer', validate: fits })

/** Makes a function that makes something of an object once, and then gives the same again. */
export function remembered<From extends object, Made>(
  make: (from: From) => Made,
): (from: From) => Made {
  const known = new WeakMap<From, Made>()
  return (from) => {
    const made = known.get(from) ?? make(from)
    known.set(from, made)
    return made
  }
}

/** Replaces `type: integer` and its formats by our keywords `integer` and `bits`. */
export const exact = remembered((schema: Schema): Schema => fields(withExact(schema)))

function withExact(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withExact)
  if (!isObject(node)) return node
  const all = Object.fromEntries(Object.entries(node).map(([key, each]) => [key, withExact(each)]))
  const { type, format, ...rest } = all
  if (type !== 'integer') return all
  const bits = { int32: 32, int64: 64 }[String(format)]
  return { ...rest, integer: bits ?? 53, ...(bits !== undefined && { bits }) }
}

/** The errors that Ajv finds in a value; none if it is valid. Integers may be bigints. */
export function faultsOf(schema: Schema, value: unknown): readonly ErrorObject[] {
  const validate = ajv.compile(exact(schema)) // Ajv caches compiled schemas
  return validate(value) ? [] : (validate.errors ?? [])
}

/** Whether a value is valid. */
export const isValid = (schema: Schema, value: unknown) => faultsOf(schema, value).length === 0
