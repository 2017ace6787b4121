// Tries whether the bodies of built-in errors fit the schemas of the contract.
import type { Compiled, ErrorFormat, Operation } from './compiled.ts'
import { bodyWriter, statusesOf, type WriteBody } from './error-forms.ts'
import { type ErrorFacts, has } from './error-templates.ts'
import type { ProductHooks } from './product-hooks.ts'
import { textOfSchema } from './show-schema.ts'
import {
  alternativesOf,
  type Check,
  flattenedSchema,
  isObject,
  type SchemaObject,
  Validator,
} from '@plant-store/json-schema'
import type { ErrorOrigin } from '../http/error-answers.ts'
import { exactJson } from '../http/json.ts'
import { MAX_MESSAGE_LENGTH, reasonOf } from '../errors.ts'

/** Errors of an operation with one schema. */
export interface DescribedError {
  readonly operation: Pick<Operation, 'id' | 'path'>
  /** Statuses of built-in errors. */
  readonly statuses: readonly number[]
  /** The id of the schema. */
  readonly schema: string
  readonly check: Check
}

/**
 * The messages to try: a short one, one with quotes and backslashes, and one of the greatest
 * length.
 */
const MESSAGES = [
  'The reason',
  'body/items/0 must match pattern "^\\d+$": Not a code.',
  'x'.repeat(MAX_MESSAGE_LENGTH),
]

/** An id as made by the service. */
const UUID = '5f0c3e1a-9d7b-4c52-8a46-1b2e3d4c5f60'

/** A request for trials of errors. */
function triedOrigin({ id, path }: DescribedError['operation']): ErrorOrigin {
  return {
    path: path.replaceAll(/{[^}]*}/g, '1'),
    id: UUID,
    operationId: id,
  }
}

/** The errors of a status to try with a template. */
export function triedErrors(operation: DescribedError['operation'], status: number): ErrorFacts[] {
  const origin = triedOrigin(operation)
  return MESSAGES.map((message) => ({ ...origin, status, message }))
}

/**
 * Makes the check of the errors written by the product for a schema. If the schema describes
 * properties, an error must have one of them: without any it would tell a client nothing.
 * @param id the id of the schema
 * @param check the check of the schema itself
 */
export function checkOfErrors(schemas: Compiled['schemas'], id: string, check: Check): Check {
  const names = describedMembers(schemas, id)
  return (body) => {
    const written = isObject(body) ? body : {}
    const isDescribed = names.length === 0 || names.some((name) => Object.hasOwn(written, name))
    return isDescribed ? check(body) : { error: `body has none of the members ${names.join(', ')}` }
  }
}

/** The names of the properties described by a schema, or by an alternative of it. */
function describedMembers(schemas: Compiled['schemas'], id: string): string[] {
  const flatten = (schema: unknown) =>
    flattenedSchema<SchemaObject>(schema, ({ $ref }) => schemas[String($ref)])
  const parts = alternativesOf({ $ref: id }, flatten).flatMap(flatten)
  return parts.flatMap(({ properties }) => Object.keys(properties ?? {}))
}

/** A failed trial: the call of the function, and the error of its body. */
interface Misfit {
  readonly call: string
  readonly error: string
}

/** Tries a function. @returns the first misfit; undefined if all bodies fit */
export function findMisfit(
  { operation, statuses, check }: DescribedError,
  write: WriteBody,
  id = UUID,
): Misfit | undefined {
  const origin = { ...triedOrigin(operation), id }
  for (const status of statuses)
    for (const message of MESSAGES) {
      const error = errorOfBody(check, () => write(status, message, origin))
      if (error === undefined) continue
      const words =
        message.length > 100 ? `a message of ${message.length} characters` : `'${message}'`
      const ofOrigin = write.length > 2 ? `, { operationId: '${operation.id}', ... }` : ''
      return { call: `errorBody(${status}, ${words}${ofOrigin})`, error }
    }
  return undefined
}

/**
 * The fault of an unfit function of the product, with the schema; undefined if the function fits.
 */
export function bodyFault(
  schemas: Compiled['schemas'],
  described: DescribedError,
  write: WriteBody,
): string | undefined {
  const misfit = findMisfit(described, write)
  if (misfit === undefined) return undefined
  const { call, error } = misfit
  return `${call} does not fit: ${error}. It must fit ${textOfSchema(schemas, described.schema)}`
}

function errorOfBody(check: Check, write: () => unknown): string | undefined {
  try {
    const body = write()
    return body === undefined ? 'body is undefined' : check(body).error
  } catch (error) {
    return reasonOf(error)
  }
}

/** The faults of the errors written by the product, or left to it, each string once. */
export function errorFaults(contract: Compiled, product: ProductHooks): readonly string[] {
  const { errorBody } = product
  const faults = new Set<string>()
  for (const { format, ...described } of checkedErrors(contract, product)) {
    const { id } = described.operation
    if (errorBody !== undefined) faults.add(bodyFault(contract.schemas, described, errorBody) ?? '')
    else if (format.form === 'product')
      faults.add(`the errors of ${id} need errorBody: (status, message) => ... in the product`)
  }
  faults.delete('')
  return [...faults]
}

type CheckedFormat = Extract<ErrorFormat, { readonly schema: string }>

/**
 * The errors whose bodies have to fit a schema: those of a template, and those left to the product.
 */
function checkedErrors(
  { operations, schemas }: Compiled,
  { formats }: ProductHooks,
): (DescribedError & { readonly format: CheckedFormat })[] {
  const validator = new Validator(schemas, 'outgoing', formats)
  return operations.flatMap((operation) =>
    Object.entries(operation.errors).flatMap(([key, format]) => {
      if (!('schema' in format)) return []
      const { schema } = format
      const checkSchema = validator.compile('body', { $ref: schema })
      const check = checkOfErrors(schemas, schema, checkSchema)
      const statuses = statusesOf(operation.path, operation.errors, key)
      return { operation, statuses, schema, check, format }
    }),
  )
}

/** Ids sent by callers: short, long, and with each kind of character. */
const CALLERS_IDS = ['a', '7', 'My.id-1_2', 'x'.repeat(64)]

/**
 * Whether the errors fit with any `X-Request-Id` of a caller. They do not if they show the id, and
 * their schema requires a UUID.
 */
export function takesAnyId(contract: Compiled, product: ProductHooks): boolean {
  const errors = checkedErrors(contract, product).filter(({ format }) => mayShowId(format, product))
  // A template shows the id alike in all operations. Only a product may tell them apart.
  const byTemplate = new Map(
    errors.map((error) => [exactJson([error.format, error.statuses]), error]),
  )
  const distinct = product.errorBody === undefined ? byTemplate.values() : errors.values()
  return distinct.every(({ format, ...described }) => {
    const write = bodyWriter(format, product)
    return !write || CALLERS_IDS.every((id) => findMisfit(described, write, id) === undefined)
  })
}

function mayShowId(format: ErrorFormat, { errorBody }: ProductHooks): boolean {
  if (errorBody !== undefined || format.form !== 'template') return true
  const { template, statuses = {} } = format
  return [template, ...Object.values(statuses)].some((written) => has(written, '$id'))
}

/** Whether an error outside of operations fits in this format. */
export function fitsOutside(
  { schemas }: Pick<Compiled, 'schemas'>,
  product: ProductHooks,
  format: ErrorFormat,
): boolean {
  if (!('schema' in format)) return true
  const write = bodyWriter(format, product)
  if (write === undefined) return false
  const { schema } = format
  const validator = new Validator(schemas, 'outgoing', product.formats)
  const check = checkOfErrors(schemas, schema, validator.compile('body', { $ref: schema }))
  const described = { operation: { id: '', path: '/' }, statuses: [404], schema, check }
  return findMisfit(described, write) === undefined
}
