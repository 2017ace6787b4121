// Compiles the service's own errors for contract/error-forms.ts: whether the service or the product writes their bodies.
import { isDeepStrictEqual } from 'node:util'
import {
  bodyFault,
  checkOfErrors,
  type ErrorFormat,
  findMisfit,
  findStatus,
  KNOWN_FORMS,
  type Operation,
  statusesOf,
  textOfSchema,
  USUAL,
} from '@plant-store/engine/for-compiler'
import { bodyKind } from './body-kinds.ts'
import type * as openapi from '../read/document.ts'
import type { NormalOperation } from './normal-form.ts'
import { suggestErrorBody } from './error-branches.ts'
import { derefEntries } from '../read/references.ts'
import { findLocation } from '../read/source-locations.ts'
import { refusalOfMedia, type MediaType, toMediaType } from './media-types.ts'
import type { Context, ErrorOfProduct } from '../schemas/schemas.ts'

/** The media type of RFC 9457. It names the form, so no other form is used, even if the schema accepts one. */
const PROBLEM = 'application/problem+json'
/** The beginning of the errors that show an `errorBody`. */
const BY_ITSELF = 'the service answers this error by itself, in a form that it does not know'
const NO_BODY =
  'the service answers this error by itself, and no body could be made for it: write into product.ts an errorBody that fits'
const NO_MESSAGE = 'and that has no place for the message'
const WRITE = 'write into product.ts errorBody:'

/** The formats of the service's own errors, by status. There are none if all are usual. */
export function readErrors(context: Context, normal: NormalOperation): Operation['errors'] {
  if (normal.method === 'HEAD') return {} // its answers have no bodies
  reportUndescribed(context, normal)
  const errors = readFormats(context, normal)
  const formats = Object.values(errors)
  if (context.product?.errorBody && formats.length === 0)
    return { default: undescribedFormat(context, undefined) }
  const areUsual = formats.every((format) => isDeepStrictEqual(format, USUAL))
  return areUsual ? {} : errors
}

/** The formats of the errors that an operation describes. */
function readFormats(context: Context, normal: NormalOperation): Operation['errors'] {
  const { path, responses } = normal
  const statuses = (key?: string) => statusesOf(path, responses, key)
  const own = Object.entries(responses).filter(([key]) => statuses(key).length > 0)
  const hasContent = ([, { content }]: (typeof own)[number]) => derefEntries(content).length > 0
  const errors: Record<string, ErrorFormat> = {}
  const [keyOfFirst] = own.find(hasContent) ?? []
  for (const [key, response] of own.filter(hasContent)) {
    const undescribed = key === keyOfFirst ? statuses() : []
    const origin = { operation: normal, statuses: statuses(key), undescribed }
    errors[key] = readError(context, origin, response)
  }
  const [first] = Object.values(errors)
  for (const [key, response] of own.filter((entry) => !hasContent(entry))) {
    if (statuses(key).join() === '404') continue // its method answers it, but for a segment like ".."
    errors[key] = undescribedFormat(context, first)
    const isWritten = findLocation(response) !== undefined // normal-form.ts may have added it
    if (isWritten) context.diagnostics.warn(response, NO_ERROR_CONTENT)
  }
  return errors
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

/** The operation of an error, and its statuses. */
type Origin = Pick<ErrorOfProduct, 'operation' | 'statuses' | 'undescribed'>

/** Reads the format of an error. */
function readError(context: Context, origin: Origin, response: openapi.Response): ErrorFormat {
  const content = derefEntries(response.content)
  const mediaTypes = content.map(([range, media]) => toMediaType(range, media))
  const written = mediaTypes.find(isWritable)
  if (written === undefined) {
    context.diagnostics.warn(response, NO_ERROR_TYPE, 'content')
    return USUAL
  }
  const { type } = written
  if (bodyKind(type) === 'text') return { type, form: 'text' }
  return readJsonError(context, origin, written)
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

function readJsonError(context: Context, origin: Origin, { type, media }: MediaType): ErrorFormat {
  const { product, schemas, diagnostics, errorsOfProduct } = context
  const schema = schemas.add(media.schema ?? true)
  const check = schemas.check('body', { $ref: schema })
  const described = { ...origin, schema, check }
  const form = knownForms(type).find(
    (name) => findMisfit(described, KNOWN_FORMS[name]) === undefined,
  )
  if (form === undefined) {
    const checkOfProduct = checkOfErrors(schemas.compiled, schema, check)
    errorsOfProduct.push({ ...described, check: checkOfProduct, media })
    return { type, form: 'product', schema }
  }
  const members = Object.keys(KNOWN_FORMS[form](400, '')).join(', ')
  const text = `the service writes this error as { ${members} }: errorBody is for other forms`
  if (product?.errorBody) diagnostics.warn(media, text)
  return { type, form }
}

/** Reports the errors that the product does not write. @returns a function that would write all of them, as TypeScript */
export function checkErrorBody(context: Context): string | undefined {
  const { product, schemas, diagnostics, errorsOfProduct } = context
  if (errorsOfProduct.length === 0) return undefined
  if (product?.errorBody === undefined) return suggestForErrors(context)
  for (const described of errorsOfProduct) {
    const fault = bodyFault(schemas.compiled, described, product.errorBody)
    if (fault !== undefined) diagnostics.error(described.media, fault, 'schema')
  }
  return undefined
}

function suggestForErrors(context: Context): string {
  const { root, product, schemas, diagnostics, errorsOfProduct } = context
  const byForm = Map.groupBy(errorsOfProduct, ({ schema }) => schema)
  const forms = [...byForm].map(([id, errors]) => ({ schema: schemas.nodeOf(id), errors }))
  const undescribed = errorsOfProduct
    .filter((error) => error.undescribed.length > 0)
    .map((error) => ({ ...error, statuses: error.undescribed }))
  const { text, written } = suggestErrorBody(root, forms, undescribed)
  const report = product === undefined ? diagnostics.warn : diagnostics.error
  for (const described of errorsOfProduct) {
    const body = written.get(described)
    if (body === undefined) {
      const shown = textOfSchema(schemas.compiled, described.schema)
      diagnostics.error(described.media, `${NO_BODY} ${shown}`, 'schema')
      continue
    }
    const place = body.uses.includes('message') ? '' : `, ${NO_MESSAGE}`
    report(described.media, `${BY_ITSELF}${place}: ${WRITE} ${text},`, 'schema')
  }
  return text
}

/** Whether the text of an error shows an `errorBody` to paste: then nothing need be left out. */
export function hasErrorBody(text: string): boolean {
  return text.startsWith(BY_ITSELF)
}

/** The names of the known forms that a media type allows. */
function knownForms(type: string): (keyof typeof KNOWN_FORMS)[] {
  if (type.toLowerCase() === PROBLEM) return ['problem']
  return ['error', 'problem', 'code', 'message']
}
