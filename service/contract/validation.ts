import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Schema } from './contract.ts'
import { isObject } from './fields.ts'
import { numberKeyword } from './numbers.ts'

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
    const ajv = new Ajv2020({ ...lean, ownProperties: true, useDefaults: isRequest, verbose: true })
    addFormats.default(ajv)
    ajv.addKeyword({ keyword: 'listed', validate: isListed, error: { message: 'must be one of the allowed values' } })
    ajv.addKeyword({ keyword: 'number', modifying: isRequest, errors: true, compile: numberKeyword(isRequest) })
    ajv.addKeyword({ keyword: 'file', validate: isFile, error: { message: 'must be a file' } })
    ajv.addKeyword({ keyword: 'notSent', validate: () => false, error: { message: 'is read-only: leave it out' } })
    ajv.addKeyword({ keyword: 'notAnswered', validate: removeMembers }) // without a type: before all that objects have
    for (const [id, schema] of Object.entries(schemas)) ajv.addSchema(schema, id)
    this.#ajv = ajv
  }

  /** @param name of the member that is to be validated */
  of(name: string, schema: Schema): Validate {
    const validate = this.#ajv.compile({ type: 'object', properties: { [name]: schema } })
    return (holder) => (validate(holder) ? undefined : messageOf(validate.errors ?? []))
  }
}

/** As `enum`, with the values as JSON: to Ajv's own no `bigint` is equal to a `number`. */
function isListed(values: readonly string[], data: unknown): boolean {
  return values.includes(typeof data === 'bigint' ? String(data) : JSON.stringify(data))
}

function isFile(_: unknown, data: unknown): boolean {
  return data instanceof Blob
}

function removeMembers(names: readonly string[], data: unknown): boolean {
  if (isObject(data)) for (const name of names) Reflect.deleteProperty(data, name)
  return true
}

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
    /^(enum|listed|const)$/.test(keyword) ? 0 : instancePath.split('/').length
  const [first, second] = errors.slice(0, -1).toSorted((a, b) => rank(b) - rank(a))
  return first !== undefined && (second === undefined || rank(first) > rank(second)) ? first : choice
}
