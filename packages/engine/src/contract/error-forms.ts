// Writes the service's own errors in the form that the contract describes.
import type { ErrorFormat, Operation } from './compiled.ts'
import type { ProductHooks } from './product-hooks.ts'
import { usualError, type WriteError } from '../http/error-answers.ts'
import { exactJson } from '../http/json.ts'
import { STATUS_CODES } from '../http/node.ts'
import { reasonOf } from '../errors.ts'

/** The statuses that the service answers by itself where a contract describes them. */
export const BUILT_IN_STATUSES = [400, 401, 403, 404, 408, 413, 415, 417, 431, 500, 501, 503, 505]

/**
 * The statuses of the service's own errors that a key of `responses` describes. Only a path with parameters has 404: some
 * segments, such as `..`, are no parameter.
 * @param key undefined for the statuses that no key describes
 */
export function statusesOf(
  path: string,
  responses: object,
  key: string | undefined,
): readonly number[] {
  const hasParameters = path.includes('{')
  return BUILT_IN_STATUSES.filter((status) => {
    const isOwn = status !== 404 || hasParameters
    return isOwn && findStatus(responses, status) === key
  })
}

/** The key of a status in the responses of a contract: the status, its range (`4XX`) or `default`. */
export function findStatus(responses: object, status: number): string | undefined {
  const range = `${Math.floor(status / 100)}XX`
  return [String(status), range, 'default'].find((key) => Object.hasOwn(responses, key))
}

/** The usual format of an error. */
export const USUAL: ErrorFormat = { type: 'application/json', form: 'error' }

/**
 * The format of an error. A status that the contract does not describe has the format of the first error.
 * @returns undefined if there are no formats: then all are usual
 */
export function formatOf(errors: Operation['errors'], status: number): ErrorFormat | undefined {
  const [first] = Object.values(errors)
  const key = findStatus(errors, status)
  return key === undefined ? first : errors[key]
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
export type WriteBody = NonNullable<ProductHooks['errorBody']>

/** Makes the function that writes the errors of an operation, or those outside of operations. */
export function errorWriter(errors: Operation['errors'], { errorBody }: ProductHooks): WriteError {
  return (status, message, origin) => {
    const error = formatOf(errors, status)
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

/** Escapes a message for markup: it may have names from the request. */
export function escapeMarkup(message: string): string {
  return message.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
