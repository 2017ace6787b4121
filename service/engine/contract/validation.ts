import { str } from 'ajv'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import type { DataValidateFunction, FormatDefinition, SchemaValidateFunction } from 'ajv/dist/types/index.js'
import addFormats from 'ajv-formats'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { Annotations, CHANGES, type Found, type Keywords, type Place } from './annotations.ts'
import type { BytesRule, Schema } from './compiled.ts'
import type { Extensions } from './extensions.ts'
import { compileNumber, describeNumber, digitsOf, isNumber, type NumberRule } from './numbers.ts'
import { toRegExp } from './patterns.ts'
import { parseJson } from '../http/json.ts'

/**
 * Validates a value, and changes it as its schemas say: those that have matched (JSON Schema 2020-12, section 7.7.1).
 * @param value with numbers as `parseJson` has them
 * @param plain the same value with numbers as `JSON.parse` has them: it is changed
 * @returns the changed value, or what is wrong with it, in words that begin with its name
 */
export type Check = (value: unknown, plain?: unknown) => Checked
export interface Checked {
  readonly value?: unknown
  readonly fault?: string | undefined
}

/** What Ajv's formats would take for more: RFC 3339 (section 5.6) has no space, and an offset has its minutes. */
const ZONE = /^[\dt:.-]+(z|[+-]\d\d:\d\d)$/i

/** Compiles the schemas of a contract, in JSON Schema 2020-12, the dialect of OpenAPI 3.1. Values are never coerced. */
export class Validators {
  readonly #ajv: Ajv2020
  readonly #use: keyof typeof CHANGES
  readonly #annotations: Annotations
  readonly #compiled = new Map<Schema, ValidateFunction>()

  /** @param formats of the product */
  constructor(
    schemas: Readonly<Record<string, Schema>>,
    use: keyof typeof CHANGES,
    formats: Extensions['formats'] = {},
  ) {
    // compile.ts has checked the schemas. To compile JSON Schema's meta-schema would take longer than to compile them all.
    const lean = { strict: false, meta: false, validateSchema: false, logger: false } as const
    const code = { regExp: Object.assign(toRegExp, { code: 'toRegExp' }) }
    const ajv = new Ajv2020({ ...lean, code, ownProperties: true, verbose: true, loopRequired: 0 })
    ajv.opts.unevaluated = false // Ajv's has faults, so these keywords are ours.
    addFormats.default(ajv)
    for (const format of ['date-time', 'time'] as const) {
      const { validate } = fullFormats[format] as FormatDefinition<string>
      ajv.addFormat(format, (text) => ZONE.test(text) && validate instanceof Function && validate(text))
    }
    for (const [format, isValid] of Object.entries(formats)) ajv.addFormat(format, (text: string) => isValid(text))
    ajv.addKeyword({
      keyword: 'number',
      compile: compileNumber,
      error: { message: ({ schema }) => str`must be ${describeNumber(schema as NumberRule)}` },
    })
    for (const keyword of ['enum', 'const'])
      ajv
        .removeKeyword(keyword)
        .addKeyword({ keyword, compile: compileListed, error: { message: 'must be one of the allowed values' } })
    ajv.addKeyword({
      keyword: 'file',
      validate: ({ minLength = 0, maxLength = Infinity }: BytesRule, data: unknown) =>
        data instanceof Blob && data.size >= minLength && data.size <= maxLength,
      error: { message: ({ schema }) => str`must be a file${describeBytes(schema as BytesRule)}` },
    })
    ajv.removeKeyword('uniqueItems').addKeyword({
      keyword: 'uniqueItems',
      validate: (isUnique: boolean, data: unknown) =>
        !isUnique || !Array.isArray(data) || new Set(data.map(canonicalJson)).size === data.length,
      error: { message: 'must NOT have duplicate items' },
    })
    for (const keyword of ['unevaluatedProperties', 'unevaluatedItems'])
      ajv.removeKeyword(keyword).addKeyword({ keyword, validate: this.#unevaluated(keyword) })
    for (const [id, schema] of Object.entries(schemas)) ajv.addSchema(schema, id)
    this.#ajv = ajv
    this.#use = use
    this.#annotations = new Annotations(schemas, CHANGES[use], (schema, value) => this.validator(schema)(value))
  }

  /**
   * Compiles a schema.
   * @param name of the value in faults
   * @param marked the level from which on `readOnly` and `writeOnly` count: 1 for the members of the value
   */
  compile(name: string, schema: Schema, marked = 1): Check {
    const validate = this.#ajv.compile(schema)
    const whole = { parentData: {}, parentDataProperty: name, rootData: {}, dynamicAnchors: {} }
    const context = { ...whole, instancePath: `/${name}` }
    const isChanged = this.#annotations.leads(schema)
    return (value, plain = value) => {
      const isValid = validate(value, context)
      const holder = { [name]: plain }
      const found = isValid && isChanged ? this.#annotations.find(schema, value, { holder, key: name }) : []
      this.#annotations.forget()
      if (!isValid) return { fault: describeFault(validate) }
      if (found.length === 0) return { value: plain }
      const hidden = found.filter(({ schema, place }) => schema.hidden === true && levelOf(place) >= marked)
      if (this.#use === 'request' && hidden[0])
        return { fault: `${pathOf(hidden[0].place)} is read-only: leave it out` }
      if (this.#use !== 'response') this.#annotations.change(found)
      else if (hidden.length > 0) {
        holder[name] = without(value, hidden)
        if (!validate(holder[name], context)) return { fault: describeFault(validate) }
      }
      return { value: holder[name] }
    }
  }

  /** @param schema a part of a compiled schema */
  validator(schema: Schema): ValidateFunction {
    const validate = this.#compiled.get(schema) ?? this.#ajv.compile(schema)
    this.#compiled.set(schema, validate)
    return validate
  }

  /** Makes the function for `unevaluatedProperties` or `unevaluatedItems`. */
  #unevaluated(keyword: string): SchemaValidateFunction {
    const check: SchemaValidateFunction = (rest: Schema, data: unknown, parent, context) => {
      if (typeof data !== 'object' || data === null || Array.isArray(data) !== (keyword === 'unevaluatedItems'))
        return true
      const instancePath = context?.instancePath ?? ''
      for (const [key, value] of Object.entries(data)) {
        if (this.#annotations.isEvaluated(parent as Keywords, data, key) || this.#annotations.matches(rest, value))
          continue
        const validate = this.validator(rest)
        validate(value)
        const at = (path: string) => `${instancePath}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}${path}`
        check.errors =
          rest === false
            ? [{ keyword, instancePath, message: `must NOT have the item ${key}`, params: { [keyword]: key } }]
            : (validate.errors ?? []).map((error) => ({ ...error, instancePath: at(error.instancePath) }))
        return false
      }
      return true
    }
    return check
  }
}

const levelOf = ({ outer }: Place): number => (outer === undefined ? 0 : 1 + levelOf(outer))
const pathOf = ({ key, outer }: Place): string => (outer === undefined ? key : `${pathOf(outer)}/${key}`)

function describeBytes({ minLength, maxLength }: BytesRule): string {
  const bounds = [minLength && ` from ${minLength} bytes`, maxLength && ` up to ${maxLength} bytes`]
  return bounds.filter(Boolean).join('')
}

/** Copies a value without the hidden parts of it. */
function without(value: unknown, hidden: readonly Found[]): unknown {
  const gone = new Map(hidden.map(({ place }) => [place.holder, new Set<string>()]))
  for (const { place } of hidden) gone.get(place.holder)?.add(place.key)
  return copy(value)

  function copy(each: unknown): unknown {
    if (typeof each !== 'object' || each === null || 'toJSON' in each) return each
    const entries = Object.entries(each).filter(([key]) => gone.get(each)?.has(key) !== true)
    const kept = entries.map(([key, one]): [string, unknown] => [key, copy(one)])
    return Array.isArray(each) ? kept.map(([, one]) => one) : Object.fromEntries(kept)
  }
}

/** Works like Ajv's `enum`. The values are JSON texts, which can hold an int64. */
function compileListed(values: readonly string[]): DataValidateFunction {
  const all = new Set(values.map((text) => canonicalJson(parse(text))))
  return (data: unknown) => all.has(canonicalJson(data))
}

/** The JSON text of a value, the same for all values that are equal: names are sorted, and numbers have all their digits. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (isObject(each)) return Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    return isNumber(each) ? JSON.rawJSON(digitsOf(each)) : each
  })
}

const parse = (text: string) => parseJson(Buffer.from(text))

/** Describes why the last value was not valid, in words that begin with the name of the value. */
function describeFault({ errors }: ValidateFunction): string {
  const { instancePath = '', keyword, message = 'is invalid', params, parentSchema } = mostSpecific(errors ?? []) ?? {}
  const extra: unknown = params?.['additionalProperty'] ?? params?.['unevaluatedProperties']
  const meaning: unknown = parentSchema?.['description']
  // Ajv's message for these two does not help a person; the description in the schema does.
  const isExplained = (keyword === 'pattern' || keyword === 'not') && typeof meaning === 'string'
  const text = isExplained ? `is invalid: ${meaning}` : message
  const fault = typeof extra === 'string' ? `must not have the property ${extra.slice(0, 100)}` : text
  return `${instancePath.slice(1)} ${fault}`
}

/** Chooses the fault to report: among alternatives, the deepest one. `enum` and `const` only tell alternatives apart. */
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
