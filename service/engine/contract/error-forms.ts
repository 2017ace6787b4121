// Writes the service's own errors in the form that the contract describes.
import type { Compiled, Operation } from './compiled.ts'
import type { Extensions } from './extensions.ts'
import { type Check, Validators } from './validation.ts'
import { usualError, type WriteError } from '../http/error-answers.ts'
import { exactJson } from '../http/json.ts'
import { STATUS_CODES } from '../http/node.ts'
import { reasonOf } from '../errors.ts'

/** The statuses that the service answers by itself where a contract describes them. */
const OWN_STATUSES = [400, 401, 403, 408, 413, 415, 417, 431, 500, 501, 503, 505]

/** The own statuses that a key of an operation's responses is for. */
export function statusesOf(responses: object, key: string): readonly number[] {
  return OWN_STATUSES.filter((status) => findStatus(responses, status) === key)
}

/** The key of a status in the responses of a contract: the status, its range (`4XX`) or `default`. */
export function findStatus(responses: object, status: number): string | undefined {
  return [String(status), `${Math.floor(status / 100)}XX`, 'default'].find((each) =>
    Object.hasOwn(responses, each),
  )
}

/**
 * The forms of an error that the service knows, in the order in which they are tried: its own, that of RFC 9457, and two that
 * are common.
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

/** The fault of the first body that does not fit, of those that `write` makes for these statuses. */
export function bodyFault(
  check: Check,
  statuses: readonly number[],
  write: (status: number, message: string) => unknown,
  message = 'The reason',
): string | undefined {
  for (const status of statuses) {
    try {
      const body = write(status, message)
      const fault = body === undefined ? 'body is undefined' : check(body).fault
      if (fault !== undefined) throw new Error(fault)
    } catch (error) {
      return `errorBody(${status}, '${message}') does not fit: ${reasonOf(error)}`
    }
  }
  return undefined
}

/** What is wrong with the errors that the product writes. */
export function errorFaults(
  { operations, schemas }: Compiled,
  { errorBody, formats }: Extensions,
): readonly string[] {
  const validators = new Validators(schemas, 'response', formats)
  const all = operations.flatMap(({ id, errors }) =>
    Object.entries(errors).flatMap(([key, format]) => {
      if (format?.form !== 'product') return []
      if (!errorBody)
        return `the errors of ${id} need errorBody: (status, message) => ... in the product`
      return (
        bodyFault(
          validators.compile('body', { $ref: format.schema }),
          statusesOf(errors, key),
          errorBody,
        ) ?? []
      )
    }),
  )
  return [...new Set(all)]
}

/**
 * Makes the function that writes the errors of an operation. A status that the contract does not describe has the form of
 * another error.
 */
export function errorWriter(errors: Operation['errors'], { errorBody }: Extensions): WriteError {
  const other = Object.values(errors).find((each) => each !== null)
  return (status, message) => {
    const key = findStatus(errors, status)
    const error = key === undefined ? other : errors[key]
    if (error === undefined) return usualError(status, message)
    if (error === null) return {}
    const { type, form } = error
    if (form === 'text')
      return {
        type: `${type}; charset=utf-8`,
        body: /html|xml/.test(type) ? escapeMarkup(message) : message,
      }
    if (form !== 'product') return { type, body: exactJson(KNOWN_FORMS[form](status, message)) }
    try {
      const body = errorBody?.(status, message)
      if (body === undefined) throw new Error('it returned nothing')
      return { type, body: exactJson(body) }
    } catch (fault) {
      process.emitWarning(new Error(`errorBody failed: ${reasonOf(fault)}`))
      return usualError(status, message)
    }
  }
}

/**
 * Makes the function that writes the errors outside of operations, such as those of unknown paths. Their form is the first one
 * of the contract that the product writes, or the usual one.
 */
export function commonErrorWriter({ operations }: Compiled, product: Extensions): WriteError {
  const format = operations
    .flatMap(({ errors }) => Object.values(errors))
    .find((each) => each?.form === 'product')
  return errorWriter(format === undefined ? {} : { default: format }, product)
}

/** Escapes a message for markup: it may have names from the request. */
export function escapeMarkup(message: string): string {
  return message.replaceAll(/[&<>"']/g, (each) => `&#${each.charCodeAt(0)};`)
}
