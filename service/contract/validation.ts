import { isDeepStrictEqual } from 'node:util'
import { str } from 'ajv'
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import type { DataValidateFunction, SchemaValidateFunction, ValidateFunction } from 'ajv/dist/types/index.js'
import addFormats from 'ajv-formats'
import type { Schema } from './compiled.ts'
import { compileNumber, describeNumber, type NumberRule } from './numbers.ts'
import { parseJson } from '../http/json.ts'

/** Validates a member of an object, and may change it. {@link describeFault} says what was wrong with the last one. */
export type Validate = ValidateFunction

/**
 * Compiles the schemas of a contract, in JSON Schema 2020-12, the dialect of OpenAPI 3.1. Values are never coerced. In a
 * request, an int64 becomes a `bigint`, and an absent member gets its default. In a response, `writeOnly` members are
 * removed.
 */
export class Validators {
  readonly #ajv: Ajv2020

  constructor(schemas: Readonly<Record<string, Schema>>, isRequest: boolean) {
    // compile.ts has checked the schemas. To compile JSON Schema's meta-schema would take longer than to compile them all.
    const lean = { strict: false, meta: false, validateSchema: false, logger: false } as const
    const ajv = new Ajv2020({ ...lean, ownProperties: true, verbose: true })
    addFormats.default(ajv)
    ajv.addKeyword({
      keyword: 'number',
      modifying: isRequest,
      compile: (rule: NumberRule) => compileNumber(rule, isRequest),
      error: { message: ({ schema }) => str`must be ${describeNumber(schema as NumberRule)}` },
    })
    const add = (keyword: string, validate: SchemaValidateFunction, message = '') =>
      ajv.addKeyword({ keyword, validate, error: { message } })
    for (const keyword of ['enum', 'const']) {
      const error = { message: 'must be one of the allowed values' }
      ajv.removeKeyword(keyword).addKeyword({ keyword, compile: compileListed, error })
    }
    add('file', (_, data) => data instanceof Blob, 'must be a file')
    add('notSent', () => false, 'is read-only: leave it out')
    // These two have no type, so Ajv runs them before the keywords for objects.
    add('filled', fillMembers)
    add('removed', removeMembers)
    for (const [id, schema] of Object.entries(schemas)) ajv.addSchema(schema, id)
    this.#ajv = ajv
  }

  /** Compiles a schema. @param name of the member to validate */
  compile(name: string, schema: Schema): Validate {
    return this.#ajv.compile({ type: 'object', properties: { [name]: schema } })
  }
}

/** Works like Ajv's `enum`. The values are JSON texts, which can hold an int64. */
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

/** Describes why the last value was not valid, in words that begin with the name of the member. */
export function describeFault({ errors }: Validate): string {
  const { instancePath = '', keyword, message = 'is invalid', params, parentSchema } = mostSpecific(errors ?? []) ?? {}
  const extra: unknown = params?.['additionalProperty'] ?? params?.['unevaluatedProperty']
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
