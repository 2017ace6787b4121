// Writes the service's own errors in the form that the contract describes.
import type { Compiled, ErrorForm, Operation } from './compiled.ts'
import type { Extensions } from './extensions.ts'
import { type Check, Validators } from './validation.ts'
import { usualError, type WriteError } from '../http/error-answers.ts'
import { exactJson } from '../http/json.ts'
import { STATUS_CODES } from '../http/node.ts'
import { reasonOf } from '../errors.ts'

/** The statuses that the service answers by itself where a contract describes them. */
export const OWN_STATUSES = [400, 401, 403, 408, 413, 415, 417, 431, 500, 501, 503, 505] as const

/** The own statuses that a key of an operation's responses is for. */
export function statusesOf(responses: object, key: string): readonly number[] {
  return OWN_STATUSES.filter((status) => findStatus(responses, status) === key)
}

/** Makes the body of an error. @param form tells the content of each member */
export function writeForm(form: ErrorForm, status: number, message: string): Record<string, unknown> {
  const phrase = Object.values(form).includes('message') ? (STATUS_CODES[status] ?? '') : message
  const values = { status, digits: String(status), blank: 'about:blank', phrase, message }
  return Object.fromEntries(Object.entries(form).map(([name, given]) => [name, values[given]]))
}

/** The key of a status in the responses of a contract: the status, its range (`4XX`) or `default`. */
export function findStatus(responses: object, status: number): string | undefined {
  return [String(status), `${Math.floor(status / 100)}XX`, 'default'].find((each) => Object.hasOwn(responses, each))
}

/** What is wrong with the body that a function writes for a sample error. */
export function bodyFault(
  check: Check,
  write: NonNullable<Extensions['errorBody']>,
  status: number,
): string | undefined {
  const says = (fault: string) => `errorBody(${status}, 'The reason') does not fit: ${fault}`
  try {
    const body = write(status, 'The reason')
    const fault = body === undefined ? 'body is undefined' : check(body).fault
    return fault === undefined ? undefined : says(fault)
  } catch (error) {
    return says(reasonOf(error))
  }
}

/** What is wrong with the errors that the product writes. */
export function errorFaults({ operations, schemas }: Compiled, { errorBody, formats }: Extensions): readonly string[] {
  const validators = new Validators(schemas, 'response', formats)
  const all = operations.flatMap(({ id, errors }) =>
    Object.entries(errors).flatMap(([key, format]) => {
      if (format?.form !== 'product') return []
      if (!errorBody) return `the errors of ${id} need errorBody: (status, message) => ... in the product`
      if (format.schema === null) return []
      const check = validators.compile('body', { $ref: format.schema })
      return statusesOf(errors, key).flatMap((status) => bodyFault(check, errorBody, status) ?? [])
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
    if (form === 'product') {
      try {
        const body = errorBody?.(status, message)
        if (body === undefined) throw new Error('it returned nothing')
        return { type, body: exactJson(body) }
      } catch (fault) {
        process.emitWarning(new Error(`errorBody failed: ${reasonOf(fault)}`))
        return usualError(status, message)
      }
    }
    if (form !== null) return { type, body: exactJson(writeForm(form, status, message)) }
    return { type: `${type}; charset=utf-8`, body: /html|xml/.test(type) ? escapeMarkup(message) : message }
  }
}

/**
 * Makes the function that writes the errors outside of operations, such as those of unknown paths. Their form is the first one
 * of the contract that the product writes, or the usual one.
 */
export function commonErrorWriter({ operations }: Compiled, product: Extensions): WriteError {
  const formats = operations.flatMap(({ errors }) => Object.values(errors))
  const format = formats.find((each) => each?.form === 'product')
  return errorWriter(format === undefined ? {} : { default: format }, product)
}

/** A message may have names from the request. */
export function escapeMarkup(message: string): string {
  return message.replaceAll(/[&<>"']/g, (each) => `&#${each.charCodeAt(0)};`)
}
