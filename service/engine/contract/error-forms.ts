// Writes the service's own errors in the form that the contract describes.
import type { Compiled, Operation } from './compiled.ts'
import type { ProductHooks } from './product-hooks.ts'
import { type Check, Validator } from '../json-schema/validator.ts'
import { type ErrorOrigin, usualError, type WriteError } from '../http/error-answers.ts'
import { alternativesOf, type SchemaObject } from '../json-schema/allowed-types.ts'
import { flattenedSchema } from '../json-schema/flattened-schema.ts'
import { isObject } from '../json-schema/values.ts'
import { exactJson } from '../http/json.ts'
import { STATUS_CODES } from '../http/node.ts'
import { reasonOf } from '../errors.ts'

/** The statuses that the service answers by itself where a contract describes them. */
const OWN_STATUSES = [400, 401, 403, 408, 413, 415, 417, 431, 500, 501, 503, 505]

/** The statuses of the service's own errors that a key of `responses` describes. */
export function statusesOf(responses: object, key: string): readonly number[] {
  return OWN_STATUSES.filter((status) => findStatus(responses, status) === key)
}

/** The key of a status in the responses of a contract: the status, its range (`4XX`) or `default`. */
export function findStatus(responses: object, status: number): string | undefined {
  const range = `${Math.floor(status / 100)}XX`
  return [String(status), range, 'default'].find((key) => Object.hasOwn(responses, key))
}

/**
 * The forms of an error that the service knows, in the order in which they are tried: its own form, the form of RFC 9457, and
 * two common forms.
 */
export const KNOWN_FORMS = {
  error: (error, message) => ({ error, message }),
  problem: (status, detail) => ({
    type: 'about:blank',
    title: STATUS_CODES[status] ?? '',
    status,
    detail,
  }),
  code: (code, message) => ({ code, message }),
  message: (_status, message) => ({ message }),
} satisfies Record<string, WriteBody>

/** Makes the body of an error. */
type WriteBody = (status: number, message: string) => object

/** The request of a sample error, which is only checked. */
const TRIED: ErrorOrigin = { path: '/', id: 'id', operationId: 'operationId' }

/**
 * Makes the check of the errors that the product writes by a schema. If the schema describes members, an error must have one
 * of them: an error without any would say nothing to a client.
 * @param id the id of the schema
 * @param check the check of the schema itself
 */
export function checkOfErrors(schemas: Compiled['schemas'], id: string, check: Check): Check {
  const names = describedMembers(schemas, id)
  return (body) => {
    const written = isObject(body) ? body : {}
    const isDescribed = names.length === 0 || names.some((name) => Object.hasOwn(written, name))
    return isDescribed ? check(body) : { error: `body has none of the members ${names.join(', ')}` }
  }
}

/** The names of the members that a schema, or an alternative of it, describes. */
function describedMembers(schemas: Compiled['schemas'], id: string): string[] {
  const flatten = (schema: unknown) =>
    flattenedSchema<SchemaObject>(schema, ({ $ref }) => schemas[String($ref)])
  const parts = alternativesOf({ $ref: id }, flatten).flatMap(flatten)
  return parts.flatMap(({ properties }) => Object.keys(properties ?? {}))
}

/**
 * Tries whether `write` makes bodies that fit a schema.
 * @param statuses the statuses to make a body for
 * @returns the first error, with the call that has it; undefined if there is none
 */
export function bodyFault(
  check: Check,
  statuses: readonly number[],
  write: NonNullable<ProductHooks['errorBody']>,
  message = 'The reason',
): string | undefined {
  for (const status of statuses) {
    const error = errorOfBody(check, () => write(status, message, TRIED))
    if (error !== undefined) return `errorBody(${status}, '${message}') does not fit: ${error}`
  }
  return undefined
}

function errorOfBody(check: Check, write: () => unknown): string | undefined {
  try {
    const body = write()
    return body === undefined ? 'body is undefined' : check(body).error
  } catch (error) {
    return reasonOf(error)
  }
}

/** The faults of the errors that the product writes, each text once. */
export function errorFaults(
  { operations, schemas }: Compiled,
  { errorBody, formats }: ProductHooks,
): readonly string[] {
  const validator = new Validator(schemas, 'outgoing', formats)
  const faults = new Set<string>()
  for (const { id, errors } of operations) {
    for (const [key, error] of Object.entries(errors)) {
      if (error.form !== 'product') continue
      if (!errorBody) {
        faults.add(`the errors of ${id} need errorBody: (status, message) => ... in the product`)
        continue
      }
      const checkSchema = validator.compile('body', { $ref: error.schema })
      const check = checkOfErrors(schemas, error.schema, checkSchema)
      const fault = bodyFault(check, statusesOf(errors, key), errorBody)
      if (fault !== undefined) faults.add(fault)
    }
  }
  return [...faults]
}

/**
 * Makes the function that writes the errors of an operation. A status that the contract does not describe has the form of
 * its first error.
 */
export function errorWriter(errors: Operation['errors'], { errorBody }: ProductHooks): WriteError {
  const [first] = Object.values(errors)
  return (status, message, origin) => {
    const key = findStatus(errors, status)
    const error = key === undefined ? first : errors[key]
    if (error === undefined) return usualError(status, message, origin)
    const { type, form } = error
    if (form === 'text') return textError(type, message)
    if (form !== 'product') return { type, body: exactJson(KNOWN_FORMS[form](status, message)) }
    try {
      const body = errorBody?.(status, message, origin)
      if (body === undefined) throw new Error('it returned nothing')
      return { type, body: exactJson(body) }
    } catch (failure) {
      process.emitWarning(new Error(`errorBody failed: ${reasonOf(failure)}`))
      return usualError(status, message, origin)
    }
  }
}

/** An error as a text. The message is escaped where a client may read it as a page. */
function textError(type: string, message: string): ReturnType<WriteError> {
  const body = /html|xml/.test(type) ? escapeMarkup(message) : message
  return { type: `${type}; charset=utf-8`, body }
}

/**
 * Makes the function that writes the errors outside of operations, such as those of unknown paths. Their form is the first one
 * of the contract that the product writes, or the usual one.
 */
export function commonErrorWriter({ operations }: Compiled, product: ProductHooks): WriteError {
  const errors = operations.flatMap((operation) => Object.values(operation.errors))
  const first = errors.find((error) => error.form === 'product')
  return errorWriter(first === undefined ? {} : { default: first }, product)
}

/** Escapes a message for markup: it may have names from the request. */
export function escapeMarkup(message: string): string {
  return message.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
