// Writes the service's own errors in the form that the contract describes.
import type { ErrorForm, Operation } from './compiled.ts'
import { STATUS_CODES } from '../http/node.ts'

/** Makes the body of an error. @param form tells the content of each member */
export function writeError(form: ErrorForm, status: number, message: string): Record<string, unknown> {
  const phrase = Object.values(form).includes('message') ? (STATUS_CODES[status] ?? '') : message
  const values = { status, digits: String(status), blank: 'about:blank', phrase, message }
  return Object.fromEntries(Object.entries(form).map(([name, given]) => [name, values[given]]))
}

/** The key of a status in the responses of a contract: the status, its range (`4XX`) or `default`. */
export function findStatus(responses: object, status: number): string | undefined {
  return [String(status), `${Math.floor(status / 100)}XX`, 'default'].find((each) => Object.hasOwn(responses, each))
}

/**
 * Makes the function that writes the errors of an operation. A status that the contract does not describe has the form of
 * another error. The function returns undefined if the usual format fits.
 */
export function errorWriter({ errors }: Operation) {
  const other = Object.values(errors).find((each) => each !== null)
  return (status: number, message: string): { type?: string; body?: object | string } | undefined => {
    const key = findStatus(errors, status)
    const error = key === undefined ? other : errors[key]
    if (error === undefined) return undefined
    if (error === null) return {}
    const { type, form } = error
    if (form !== null) return { type, body: writeError(form, status, message) }
    return { type: `${type}; charset=utf-8`, body: /html|xml/.test(type) ? escapeMarkup(message) : message }
  }
}

/** A message may have names from the request. */
function escapeMarkup(message: string): string {
  return message.replaceAll(/[&<>"']/g, (each) => `&#${each.charCodeAt(0)};`)
}
