import { isDeepStrictEqual } from 'node:util'
import { str } from 'ajv'
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import type { DataValidateFunction, SchemaValidateFunction } from 'ajv/dist/types/index.js'
import addFormats from 'ajv-formats'
import type { Schema } from './compiled.ts'
import { parseJson } from '../http/json.ts'

/** Validates one member of an object in its place. @returns what is wrong with it, in words that begin with its name */
export type Validate = (holder: object) => string | undefined

/**
 * Compiles the schemas of a contract, in OpenAPI 3.1's own dialect of JSON Schema, 2020-12. Nothing is changed to make a
 * value fit. In a request an int64 becomes a `bigint`, and an absent member its default; of a response what is `writeOnly`
 * is taken away.
 */
export class Validators {
  readonly #ajv: Ajv2020

  constructor(schemas: Readonly<Record<string, Schema>>, isRequest: boolean) {
    // compile.ts has checked the schemas: the schema of schemas would take longer to compile than all of them.
    const lean = { strict: false, meta: false, validateSchema: false, logger: false } as const
    const ajv = new Ajv2020({ ...lean, ownProperties: true, verbose: true })
    addFormats.default(ajv)
    addNumberKeywords(ajv, isRequest)
    const add = (keyword: string, validate: SchemaValidateFunction, message = '') =>
      ajv.addKeyword({ keyword, validate, error: { message } })
    for (const keyword of ['enum', 'const']) {
      const error = { message: 'must be one of the allowed values' }
      ajv.removeKeyword(keyword).addKeyword({ keyword, compile: compileListed, error })
    }
    add('file', (_, data) => data instanceof Blob, 'must be a file')
    add('notSent', () => false, 'is read-only: leave it out')
    // These two have no type: they go before all that objects have.
    add('filled', fillMembers)
    add('removed', removeMembers)
    for (const [id, schema] of Object.entries(schemas)) ajv.addSchema(schema, id)
    this.#ajv = ajv
  }

  /** @param name of the member that is to be validated */
  of(name: string, schema: Schema): Validate {
    const validate = this.#ajv.compile({ type: 'object', properties: { [name]: schema } })
    return (holder) => (validate(holder) ? undefined : messageOf(validate.errors ?? []))
  }
}

/** As `enum`, with the values as JSON, which may be those of an int64. */
function compileListed(values: readonly string[]): DataValidateFunction {
  const all = values.map(parse)
  return (data: unknown) => {
    const value = typeof data === 'bigint' && Number.isSafeInteger(Number(data)) ? Number(data) : data
    return all.some((each) => isDeepStrictEqual(each, value))
  }
}

function fillMembers(defaults: Readonly<Record<string, string>>, data: unknown): boolean {
  if (!isObject(data)) return true
  for (const [name, text] of Object.entries(defaults))
    if (!Object.hasOwn(data, name)) Reflect.set(data, name, parse(text))
  return true
}

function removeMembers(names: readonly string[], data: unknown): boolean {
  if (isObject(data)) for (const name of names) Reflect.deleteProperty(data, name)
  return true
}

const parse = (text: string) => parseJson(Buffer.from(text))

function messageOf(errors: readonly ErrorObject[]): string {
  const { instancePath = '', keyword, message = 'is invalid', params, parentSchema } = mostSpecific(errors) ?? {}
  const extra: unknown = params?.['additionalProperty'] ?? params?.['unevaluatedProperty']
  const meaning: unknown = parentSchema?.['description']
  // The text of these two says nothing to people; the author of the schema does.
  const isExplained = (keyword === 'pattern' || keyword === 'not') && typeof meaning === 'string'
  const own = isExplained ? `is invalid: ${meaning}` : message
  const fault = typeof extra === 'string' ? `must not have the property ${extra.slice(0, 100)}` : own
  return `${instancePath.slice(1)} ${fault}`
}

/** Of several alternatives the one that was meant: its fault is further down, and not in what tells them apart. */
function mostSpecific(errors: readonly ErrorObject[]): ErrorObject | undefined {
  const choice = errors.at(-1)
  if (choice?.keyword !== 'oneOf' && choice?.keyword !== 'anyOf') return errors[0]
  const rank = ({ instancePath, keyword }: ErrorObject) =>
    /^(enum|const)$/.test(keyword) ? 0 : instancePath.split('/').length
  const [first, second] = errors.slice(0, -1).toSorted((a, b) => rank(b) - rank(a))
  return first !== undefined && (second === undefined || rank(first) > rank(second)) ? first : choice
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

type Numeric = number | bigint
/** A compiled schema that says something of numbers. */
type Bounded = { readonly types?: readonly string[] } & Readonly<Record<string, unknown>> & {
    readonly minimum?: string
    readonly maximum?: string
  }

/** The types that hold integers only, with the least and the greatest of each. */
const RANGES: Readonly<Record<string, readonly [least: bigint, greatest: bigint]>> = {
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  // RFC 8259, section 6: the integers on which all readers of JSON agree.
  integer: [1n - 2n ** 53n, 2n ** 53n - 1n],
}

/** By keyword, what a number must be. JavaScript compares a `bigint` with a `number` exactly. */
const BOUNDS: Readonly<Record<string, readonly [words: string, isRight: (data: Numeric, bound: Numeric) => boolean]>> =
  {
    minimum: ['>=', (data, bound) => data >= bound],
    maximum: ['<=', (data, bound) => data <= bound],
    exclusiveMinimum: ['>', (data, bound) => data > bound],
    exclusiveMaximum: ['<', (data, bound) => data < bound],
    multipleOf: ['a multiple of', (data, divisor) => isMultiple(String(data), String(divisor))],
  }

/**
 * Adds `types`, which is `type` with int64 and int32, and replaces the keywords of numbers, whose values are then digits.
 * Ajv's own know no `bigint`, and take 19.99 for no multiple of 0.01.
 * @param isRequest whether an int64 becomes a `bigint`
 */
function addNumberKeywords(ajv: Ajv2020, isRequest: boolean): void {
  const error = {
    message: ({ parentSchema }: { parentSchema?: Bounded }) => str`must be ${wordsOf(parentSchema ?? {})}`,
  }
  const compile =
    (types: readonly string[]): DataValidateFunction =>
    (data: unknown, context) => {
      if (!types.some((type) => isOfType(data, type))) return false
      if (isRequest && context && types.includes('int64') && typeof data === 'number' && Number.isInteger(data))
        Reflect.set(context.parentData, context.parentDataProperty, BigInt(data))
      return true
    }
  ajv.addKeyword({ keyword: 'types', compile, error, modifying: isRequest })
  for (const [keyword, [, isRight]] of Object.entries(BOUNDS)) {
    const compile = (digits: string): DataValidateFunction => {
      const bound = /^-?\d+$/.test(digits) ? BigInt(digits) : Number(digits)
      return (data: unknown) => !isNumber(data) || isRight(data, bound)
    }
    ajv.removeKeyword(keyword).addKeyword({ keyword, compile, error })
  }
}

function isNumber(data: unknown): data is Numeric {
  return typeof data === 'number' || typeof data === 'bigint'
}

function isOfType(data: unknown, type: string): boolean {
  const range = RANGES[type]
  if (!isNumber(data)) return type === (data === null ? 'null' : Array.isArray(data) ? 'array' : typeof data)
  if (range === undefined) return type === 'number' && typeof data === 'number' && Number.isFinite(data)
  return (typeof data === 'bigint' || Number.isInteger(data)) && data >= range[0] && data <= range[1]
}

/** All that a schema says of numbers. */
function wordsOf(schema: Bounded): string {
  const { types = ['number'], minimum, maximum } = schema
  const nouns = types.map((type) => (RANGES[type] ? 'an integer' : type === 'number' ? 'a number' : type))
  const [least, greatest] = types.flatMap((type) => RANGES[type] ?? [])
  const [from, to] = [minimum ?? least, maximum ?? greatest]
  const isRange = from !== undefined && to !== undefined
  const others = Object.entries(BOUNDS).filter(([key]) => key in schema && !(isRange && /^m..imum$/.test(key)))
  const limits = others.map(([key, [words]]) => `, ${words} ${schema[key] as string}`)
  return [nouns.join(' or '), ...(isRange ? [` from ${from} to ${to}`] : []), ...limits].join('')
}

/** Whether a number in decimal digits is a multiple of another one, exactly. */
function isMultiple(value: string, of: string): boolean {
  const [a, b] = [decimal(value), decimal(of)]
  const scale = Math.max(a.scale, b.scale)
  return (a.digits * 10n ** BigInt(scale - a.scale)) % (b.digits * 10n ** BigInt(scale - b.scale)) === 0n
}

function decimal(text: string): { digits: bigint; scale: number } {
  const [mantissa = '', exponent = '0'] = text.split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  return { digits: BigInt(whole + fraction), scale: fraction.length - Number(exponent) }
}
