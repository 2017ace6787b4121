// The errors that the service answers by itself, in the form that the contract has for them.
import type { ErrorForm, Operation } from './compiled.ts'
import { STATUS_CODES } from '../http/node.ts'

/** The body of an error. */
export function writeError(form: ErrorForm, status: number, message: string): Record<string, unknown> {
  const phrase = Object.values(form).includes('message') ? (STATUS_CODES[status] ?? '') : message
  const values = { status, digits: String(status), blank: 'about:blank', phrase, message }
  return Object.fromEntries(Object.entries(form).map(([name, given]) => [name, values[given]]))
}

/** Makes what writes the errors of an operation: the media type, and the body if there is one. */
export function errorWriter({ errors }: Operation) {
  return (status: number, message: string): { type?: string; body?: object | string } | undefined => {
    const key = [String(status), `${Math.floor(status / 100)}XX`, 'default'].find((each) => Object.hasOwn(errors, each))
    const error = key === undefined ? undefined : errors[key]
    if (error === null || error === undefined) return error === null ? {} : undefined
    return { type: error.type, body: error.form === null ? message : writeError(error.form, status, message) }
  }
}
