import { isDeepStrictEqual } from 'node:util'
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import type { DataValidateFunction, SchemaValidateFunction } from 'ajv/dist/types/index.js'
import addFormats from 'ajv-formats'
import type { Schema } from './compiled.ts'
import { isObject } from './fields.ts'
import { addNumberKeywords } from './numbers.ts'
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
