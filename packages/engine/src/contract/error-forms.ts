// Writes the built-in errors in the form described by the contract.
import type { ErrorFormat, Operation } from './compiled.ts'
import { fillIn, type Template } from './error-templates.ts'
import type { ProductHooks } from './product-hooks.ts'
import { usualError, type WriteError } from '../http/error-answers.ts'
import { exactJson } from '../http/json.ts'
import { reasonOf } from '../errors.ts'

/** The statuses of built-in errors, where a contract describes them. */
export const BUILT_IN_STATUSES = [400, 401, 403, 404, 408, 413, 415, 417, 431, 500, 501, 503, 505]

/**
 * The statuses of built-in errors described by a key of `responses`. Only a path with parameters
 * has 404: some segments, such as `..`, are no parameter.
 * @param key undefined for the statuses without a key
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

/**
 * The key of a status in the responses of a contract: the status, its range (`4XX`) or `default`.
 */
export function findStatus(responses: object, status: number): string | undefined {
  const range = `${Math.floor(status / 100)}XX`
  return [String(status), range, 'default'].find((key) => Object.hasOwn(responses, key))
}

/** The usual format of an error. */
export const USUAL: ErrorFormat = { type: 'application/json', form: 'error' }

/**
 * The format of an error. An undescribed status has the format of the first error.
 * @returns undefined if there are no formats: then all are usual
 */
export function formatOf(errors: Operation['errors'], status: number): ErrorFormat | undefined {
  const [first] = Object.values(errors)
  const key = findStatus(errors, status)
  return key === undefined ? first : errors[key]
}

/**
 * The forms to try before a template is made, in this order: the built-in form, RFC 9457, two
 * common ones.
 */
export const KNOWN_FORMS = {
  error: { error: '$status', message: '$message' },
  problem: { type: 'about:blank', title: '$reason', status: '$status', detail: '$message' },
  code: { code: '$status', message: '$message' },
  message: { message: '$message' },
} as const satisfies Record<string, Template>

/** Makes the body of an error. */
export type WriteBody = NonNullable<ProductHooks['errorBody']>

/** Makes the function that fills in a template. @param statuses the templates of single statuses */
export function templateWriter(
  template: Template,
  statuses: Readonly<Record<number, Template>> = {},
): WriteBody {
  return (status, message, origin) =>
    fillIn(statuses[status] ?? template, { ...origin, status, message })
}

/**
 * The function for the bodies of a format. The `errorBody` of the product wins over a template.
 * @returns undefined for plain text, and if the product lacks its `errorBody`
 */
export function bodyWriter(
  format: ErrorFormat,
  { errorBody }: Pick<ProductHooks, 'errorBody'>,
): WriteBody | undefined {
  const { form } = format
  if (form === 'text') return undefined
  if (form === 'product') return errorBody
  if (form === 'template') return errorBody ?? templateWriter(format.template, format.statuses)
  return templateWriter(KNOWN_FORMS[form])
}

/** Makes the function that writes the errors of an operation, or those outside of operations. */
export function errorWriter(errors: Operation['errors'], product: ProductHooks): WriteError {
  return (status, message, origin) => {
    const format = formatOf(errors, status)
    if (format === undefined) return usualError(status, message, origin)
    const { type, form } = format
    if (form === 'text') return textError(type, message)
    try {
      const body = bodyWriter(format, product)?.(status, message, origin)
      if (body === undefined) throw new Error('it returned nothing')
      return { type, body: exactJson(body) }
    } catch (failure) {
      process.emitWarning(new Error(`errorBody failed: ${reasonOf(failure)}`))
      return usualError(status, message, origin)
    }
  }
}

/** Writes an error as plain text. The message is escaped where a client may read it as a page. */
export function textError(type: string, message: string): ReturnType<WriteError> {
  const body = /html|xml/.test(type) ? escapeMarkup(message) : message
  return { type: `${type}; charset=utf-8`, body }
}

/** Escapes a message for markup: it may have names from the request. */
export function escapeMarkup(message: string): string {
  return message.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
