// Chooses the form of each built-in error of an operation: a known form, the product's, or a template.
import { isDeepStrictEqual } from 'node:util'
import type { Schema } from '@plant-store/json-schema'
import {
  bodyFault,
  BUILT_IN_STATUSES,
  checkOfErrors,
  type ErrorFormat,
  type DescribedError,
  findMisfit,
  has,
  KNOWN_FORMS,
  type Operation,
  statusesOf,
  type Template,
  templateWriter,
  textOfSchema,
  triedErrors,
  USUAL,
} from '@plant-store/engine/for-compiler'
import { bodyKind } from './body-kinds.ts'
import type * as openapi from '../read/document.ts'
import type { NormalOperation } from './normal-form.ts'
import { writeTemplate } from './error-template.ts'
import { derefEntries } from '../read/references.ts'
import { findLocation } from '../read/source-locations.ts'
import { refusalOfMedia, type MediaType, toMediaType } from './media-types.ts'
import { valueCode } from './printing.ts'
import type { Compilation } from '../schemas/schemas.ts'

/** The media type of RFC 9457. It demands the form of this RFC, even if the schema accepts another one. */
const PROBLEM = 'application/problem+json'

/** The formats of built-in errors, by status; empty if all are the default. */
export function readErrors(compilation: Compilation, normal: NormalOperation): Operation['errors'] {
  if (normal.method === 'HEAD') return {} // its answers have no body
  const errors = readFormats(compilation, normal)
  const formats = Object.values(errors)
  if (compilation.product?.errorBody && formats.length === 0)
    return { default: undescribedFormat(compilation, undefined) }
  const areUsual = formats.every((format) => isDeepStrictEqual(format, USUAL))
  return areUsual ? {} : errors
}

/** The formats of described errors. */
function readFormats(compilation: Compilation, normal: NormalOperation): Operation['errors'] {
  const { path, responses } = normal
  const statuses = (key: string) => statusesOf(path, responses, key)
  const builtIn = Object.entries(responses).filter(([key]) => statuses(key).length > 0)
  const hasContent = ([, { content }]: (typeof builtIn)[number]) => derefEntries(content).length > 0
  const errors: Record<string, ErrorFormat> = {}
  for (const [key, response] of builtIn.filter(hasContent)) {
    const origin = { operation: normal, statuses: statuses(key) }
    errors[key] = readError(compilation, origin, response)
  }
  const [first] = Object.values(errors)
  for (const [key, response] of builtIn.filter((entry) => !hasContent(entry))) {
    if (statuses(key).join() === '404') continue // the method answers it, except for a segment like ".."
    errors[key] = undescribedFormat(compilation, first)
    const isWritten = findLocation(response) !== undefined // otherwise normal-form.ts added it
    if (isWritten) compilation.diagnostics.warn(response, { code: 'error-undescribed' })
  }
  return errors
}

/** The format of an error described without content. @param first the format of another error of the operation */
function undescribedFormat(
  { product, schemas }: Compilation,
  first: ErrorFormat | undefined,
): ErrorFormat {
  const isOfProduct = first?.form === 'product' || (!first && product?.errorBody !== undefined)
  if (!isOfProduct) return first ?? USUAL
  const type = first?.type ?? USUAL.type
  return { type, form: 'product', schema: schemas.add(true) }
}

/** The statuses of all built-in errors. No operation answers 405, for a method which the path lacks. */
const ERROR_STATUSES = [...BUILT_IN_STATUSES, 405]

/** The operation of an error, and its built-in statuses. */
type Origin = Pick<DescribedError, 'operation' | 'statuses'>

function readError(
  compilation: Compilation,
  origin: Origin,
  response: openapi.Response,
): ErrorFormat {
  const content = derefEntries(response.content)
  const mediaTypes = content.map(([range, media]) => toMediaType(range, media))
  const written = mediaTypes.find(isWritable)
  if (written === undefined) {
    compilation.diagnostics.warn(response, { code: 'error-of-other-type' }, 'content')
    return USUAL
  }
  const { type } = written
  if (bodyKind(type) === 'text') return { type, form: 'text' }
  return readJsonError(compilation, origin, written)
}

const TEXT_FOR_PEOPLE = /^text\/(plain|html)$/i

/** Whether the service can write a built-in error in a media type. */
function isWritable({ type, media }: MediaType): boolean {
  if (refusalOfMedia(type, media, 'response') !== undefined) return false
  return bodyKind(type) === 'json' || TEXT_FOR_PEOPLE.test(type)
}

function readJsonError(
  compilation: Compilation,
  origin: Origin,
  mediaType: MediaType,
): ErrorFormat {
  const { type, media } = mediaType
  const { product, schemas, diagnostics } = compilation
  const schema = schemas.add(media.schema ?? true)
  const check = schemas.check('body', { $ref: schema })
  const described = { ...origin, schema, check }
  const form = knownForms(type).find(
    (name) => findMisfit(described, templateWriter(KNOWN_FORMS[name])) === undefined,
  )
  if (form !== undefined) {
    const properties = Object.keys(KNOWN_FORMS[form]).join(', ')
    if (product?.errorBody) diagnostics.warn(media, { code: 'error-known', properties })
    return { type, form }
  }
  const checkDescribed = checkOfErrors(schemas.compiled, schema, check)
  return readUnknownForm(compilation, { ...described, check: checkDescribed }, mediaType)
}

/** The format of an error without a known form: by the product's `errorBody`, or by a template made from its schema. */
function readUnknownForm(
  compilation: Compilation,
  described: DescribedError,
  { type, media }: MediaType,
): ErrorFormat {
  const { product, schemas, diagnostics } = compilation
  const { schema } = described
  if (product?.errorBody !== undefined) {
    const fault = bodyFault(schemas.compiled, described, product.errorBody)
    if (fault !== undefined)
      diagnostics.error(media, { code: 'error-body-misfit', fault }, 'schema')
    return { type, form: 'product', schema }
  }
  const templates = writeTemplates(compilation, described)
  if (templates === undefined) {
    const shown = textOfSchema(schemas.compiled, schema)
    diagnostics.error(media, { code: 'error-impossible', schema: shown }, 'schema')
    return { type, form: 'product', schema }
  }
  reportTemplates(compilation, media, [...templates.values()])
  const others = otherTemplates(compilation, described)
  return { type, form: 'template', schema, ...byStatus(new Map([...templates, ...others])) }
}

/**
 * The templates of the built-in errors which the contract does not describe: of an unknown path, for
 * example. Tried with the first operation of the schema only, because the contract promises no form.
 */
function otherTemplates(
  compilation: Compilation,
  described: DescribedError,
): readonly (readonly [status: number, template: Template])[] {
  const { templates } = compilation
  const others = ERROR_STATUSES.filter((status) => !described.statuses.includes(status))
  return others.flatMap((status) => {
    const key = `${described.schema} ${status}`
    if (!templates.has(key)) {
      const error = { ...described, statuses: [status] }
      templates.set(key, templateFor(compilation, error, status))
    }
    const template = templates.get(key)
    return template === undefined ? [] : [[status, template] as const]
  })
}

/** Warns of an error written by a template, and shows the template. */
function reportTemplates(
  { diagnostics }: Compilation,
  media: openapi.MediaType,
  templates: readonly Template[],
): void {
  const [shown = null] = templates
  const hasMessage = templates.every((template) => has(template, '$message'))
  const code = hasMessage ? 'error-templated' : 'error-templated-silent'
  diagnostics.warn(media, { code, body: valueCode(shown) }, 'schema')
}

/** Writes the templates of an error, by status. @returns undefined if a status has no fitting template */
function writeTemplates(
  compilation: Compilation,
  described: DescribedError,
): ReadonlyMap<number, Template> | undefined {
  const written = new Map<number, Template>()
  for (const status of described.statuses) {
    const template = templateFor(compilation, { ...described, statuses: [status] }, status)
    if (template === undefined) return undefined
    written.set(status, template)
  }
  return written
}

function templateFor(
  { schemas, templates }: Compilation,
  described: DescribedError,
  status: number,
): Template | undefined {
  const { operation, schema } = described
  const isFitting = (template: Template) =>
    findMisfit(described, templateWriter(template)) === undefined
  const key = `${schema} ${status}`
  const earlier = templates.get(key)
  if (earlier !== undefined && isFitting(earlier)) return earlier
  const options = {
    schemas: schemas.compiled,
    checkOf: (part: Schema) => schemas.check('body', part),
    tried: triedErrors(operation, status),
  }
  const template = writeTemplate(options, { $ref: schema })
  if (template === undefined || !isFitting(template)) return undefined
  templates.set(key, template)
  return template
}

/** The template of the first status, and other templates by status. */
function byStatus(templates: ReadonlyMap<number, Template>) {
  const [template = null] = templates.values()
  const others = [...templates].filter(([, written]) => !isDeepStrictEqual(written, template))
  return others.length === 0 ? { template } : { template, statuses: Object.fromEntries(others) }
}

/** The known forms allowed for a media type. */
function knownForms(type: string): (keyof typeof KNOWN_FORMS)[] {
  if (type.toLowerCase() === PROBLEM) return ['problem']
  return ['error', 'problem', 'code', 'message']
}
