// Writes the answer to a write that breaks a unique index, in the form of the contract's 409.
import { Validator } from '@plant-store/json-schema'
import type { Compiled, ErrorFormat, Operation, ResponseMedia } from './compiled.ts'
import {
  bodyWriter,
  errorWriter,
  findStatus,
  formatOf,
  KNOWN_FORMS,
  textError,
} from './error-forms.ts'
import { checkOfErrors, findMisfit } from './error-trials.ts'
import type { ProductHooks } from './product-hooks.ts'
import type { WriteError } from '../http/error-answers.ts'

export const CONFLICT = 409
/** The media type of RFC 9457, which demands its form. */
const PROBLEM = 'application/problem+json'

/** The service of an operation: its contract and its hooks. */
interface Described {
  readonly operation: Operation
  readonly schemas: Compiled['schemas']
  readonly product: ProductHooks
}

/**
 * @returns undefined if the product has no unique index, and if the operation describes no 409, or
 * one of another form than errors have
 */
export function conflictWriter(described: Described): WriteError | undefined {
  if (!hasUniqueIndex(described.product)) return undefined
  const { responses, errors } = described.operation
  const key = findStatus(responses, CONFLICT)
  if (key === undefined) return undefined
  const content = Object.entries(responses[key] ?? {})
  if (content.length === 0) return errorWriter(errors, described.product)
  for (const [type, media] of content) {
    const write = writerFor(described, type, media)
    if (write !== undefined) return write
  }
  return undefined
}

function hasUniqueIndex({ collections = {} }: ProductHooks): boolean {
  const indexes = Object.values(collections).flatMap(({ indexes = {} }) => Object.values(indexes))
  return indexes.some((index) => 'unique' in index && index.unique)
}

function writerFor(
  described: Described,
  type: string,
  { kind, schema }: ResponseMedia,
): WriteError | undefined {
  if (type.includes('*')) return undefined
  if (kind === 'text') return (_status, message) => textError(type, message)
  if (kind !== 'json') return undefined
  const { operation, product } = described
  const fits = (format: ErrorFormat) => fitsConflict(described, schema, format)
  const format = formatsFor(operation, type).find(fits)
  return format && errorWriter({ default: { ...format, type } }, product)
}

/** The forms to try: of the operation's other errors, then the known ones. */
function formatsFor({ errors }: Operation, type: string): ErrorFormat[] {
  const names = Object.keys(KNOWN_FORMS) as (keyof typeof KNOWN_FORMS)[]
  const forms = type.toLowerCase() === PROBLEM ? (['problem'] as const) : names
  const formats = forms.map((form) => ({ type, form }))
  const ofOthers = formatOf(errors, CONFLICT)
  return ofOthers === undefined ? formats : [ofOthers, ...formats]
}

function fitsConflict(
  { operation, schemas, product }: Described,
  schema: string | null,
  format: ErrorFormat,
): boolean {
  const write = bodyWriter(format, product)
  if (write === undefined || schema === null) return write !== undefined
  const validator = new Validator(schemas, 'outgoing', product.formats)
  const check = checkOfErrors(schemas, schema, validator.compile('body', { $ref: schema }))
  return findMisfit({ operation, statuses: [CONFLICT], schema, check }, write) === undefined
}
