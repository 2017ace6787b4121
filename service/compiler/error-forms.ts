// Compiles the service's own errors for contract/error-forms.ts: whether the service or the product writes their bodies.
import { isDeepStrictEqual } from 'node:util'
import type { ErrorFormat, Operation } from '../engine/contract/compiled.ts'
import { bodyKind } from './body-kinds.ts'
import {
  bodyFault,
  checkOfErrors,
  findStatus,
  KNOWN_FORMS,
  statusesOf,
} from '../engine/for-compiler.ts'
import type * as openapi from './document.ts'
import type { NormalOperation } from './normal-form.ts'
import { suggestErrorBody } from './error-body.ts'
import { derefEntries } from './references.ts'
import { findLocation } from './source-locations.ts'
import { refusalOfMedia, type MediaType, toMediaType } from './media-types.ts'
import type { Context } from './schemas.ts'
import type { Check } from '../engine/json-schema/validator.ts'

/** The usual format of an error. */
const USUAL = { type: 'application/json', form: 'error' } as const
/** The media type of RFC 9457. It names the form, so no other form is used, even if the schema accepts one. */
const PROBLEM = 'application/problem+json'
/** Where no function could be made from the schema. */
const OF_THE_FORM = '(status, message) => ...'
/** A usual message of the service: a schema that refuses this message needs a form of its own. */
const LIKELY_MESSAGE = 'body/items/0 must match pattern "^[A-Z]+$": Not a code.'
const BY_ITSELF = 'the service answers this error by itself, in a form that it does not know'

/** The formats of the service's own errors, by status. There are none if all are usual. */
export function readErrors(context: Context, normal: NormalOperation): Operation['errors'] {
  const { method, responses } = normal
  if (method === 'HEAD') return {} // its answers have no bodies
  reportUndescribed(context, normal)
  const own = Object.entries(responses).filter(([key]) => statusesOf(responses, key).length > 0)
  const hasContent = ([, { content }]: (typeof own)[number]) => derefEntries(content).length > 0
  const errors: Record<string, ErrorFormat> = {}
  for (const [key, response] of own.filter(hasContent))
    errors[key] = readError(context, statusesOf(responses, key), response)
  const [first] = Object.values(errors)
  for (const [key, response] of own.filter((entry) => !hasContent(entry))) {
    errors[key] = undescribedFormat(context, first)
    const isWritten = findLocation(response) !== undefined // normal-form.ts may have added it
    if (isWritten) context.diagnostics.warn(response, NO_ERROR_CONTENT)
  }
  const formats = Object.values(errors)
  if (context.product?.errorBody && formats.length === 0)
    return { default: undescribedFormat(context, undefined) }
  const areUsual = formats.every((format) => isDeepStrictEqual(format, USUAL))
  return areUsual ? {} : errors
}

/** Reports the errors of requests that the service answers by itself, and that the contract does not name. */
function reportUndescribed({ diagnostics }: Context, normal: NormalOperation): void {
  const { written, security, parameters, requestBody, responses } = normal
  const hasInput = parameters.length > 0 || requestBody !== undefined
  const statuses = [
    ...(hasInput ? [400] : []),
    ...(security.length > 0 ? [401] : []),
    ...(requestBody === undefined ? [] : [413, 415]),
  ]
  for (const status of statuses)
    if (findStatus(responses, status) === undefined)
      diagnostics.warn(
        written,
        `the service answers ${status} by itself: describe it, or "default"`,
      )
}

/** The format of an error that the contract describes without content. @param first another error of the operation */
function undescribedFormat(
  { product, schemas }: Context,
  first: ErrorFormat | undefined,
): ErrorFormat {
  if (first !== undefined && first.form !== 'product') return first
  const isOfProduct = first !== undefined || product?.errorBody !== undefined
  if (!isOfProduct) return USUAL
  const type = first?.type ?? USUAL.type
  return { type, form: 'product', schema: schemas.add(true) }
}

const NO_ERROR_CONTENT =
  'the service writes this error with a body, which says why: describe it in "content"'

/** Reads the format of an error. @param statuses the statuses that the service answers by itself */
function readError(
  context: Context,
  statuses: readonly number[],
  response: openapi.Response,
): ErrorFormat {
  const content = derefEntries(response.content)
  const mediaTypes = content.map(([range, media]) => toMediaType(range, media, 'response'))
  const written = mediaTypes.find(isWritable)
  if (written === undefined) {
    context.diagnostics.warn(response, NO_ERROR_TYPE, 'content')
    return USUAL
  }
  const { type, media } = written
  if (bodyKind(type) === 'text') return { type, form: 'text' }
  return readJsonError(context, statuses, type, media)
}

const NO_ERROR_TYPE =
  'the service writes this error as { error, message }: it has no error of this media type'

/** The texts that people read. */
const READABLE_TEXT = /^text\/(plain|html)$/i

/** Whether the service can write an error of a media type by itself. */
function isWritable({ type, media }: MediaType): boolean {
  if (refusalOfMedia(type, media, 'response') !== undefined) return false
  return bodyKind(type) === 'json' || READABLE_TEXT.test(type)
}

function readJsonError(
  context: Context,
  statuses: readonly number[],
  type: string,
  media: openapi.MediaType,
): ErrorFormat {
  const { product, schemas, diagnostics } = context
  const schema = schemas.add(media.schema ?? true)
  const check = schemas.check('body', { $ref: schema })
  const checkOfProduct = checkOfErrors(schemas.compiled, schema, check)
  const form = knownForms(type).find(
    (name) => bodyFault(check, statuses, KNOWN_FORMS[name], LIKELY_MESSAGE) === undefined,
  )
  if (form === undefined) {
    checkErrorBody(context, statuses, media, checkOfProduct)
    return { type, form: 'product', schema }
  }
  const members = Object.keys(KNOWN_FORMS[form](400, '')).join(', ')
  const text = `the service writes this error as { ${members} }: errorBody is for other forms`
  if (product?.errorBody) diagnostics.warn(media, text)
  return { type, form }
}

/** The product has to write an error of a form that the service does not know. */
function checkErrorBody(
  { root, product, diagnostics }: Context,
  statuses: readonly number[],
  media: openapi.MediaType,
  check: Check,
): void {
  if (product?.errorBody === undefined) {
    const suggestion = suggestErrorBody(root, media.schema)
    const fits = suggestion && bodyFault(check, statuses, suggestion.errorBody) === undefined
    const text = `${BY_ITSELF}: write into product.ts errorBody: ${fits ? suggestion.text : OF_THE_FORM},`
    const report = product === undefined ? diagnostics.warn : diagnostics.error
    report(media, text, 'schema')
    return
  }
  const misfit = bodyFault(check, statuses, product.errorBody)
  if (misfit !== undefined) diagnostics.error(media, misfit, 'schema')
}

/** The names of the known forms that a media type allows. */
function knownForms(type: string): (keyof typeof KNOWN_FORMS)[] {
  if (type.toLowerCase() === PROBLEM) return ['problem']
  return ['error', 'problem', 'code', 'message']
}
