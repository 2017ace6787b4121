// Writes bodies by their media type, valid and invalid ones.
import { expectedOf, REFUSED } from '../json/oracle.ts'
import type { Operation } from '../contract/contract.ts'
import { stringify } from '../json/json.ts'
import { isBytes, isJson } from '../http/media-types.ts'
import { ownSchemas } from '@plant-store/compiler/for-testing'
import { samplesOf } from '../schemas/samples.ts'
import {
  faultsOf,
  fields,
  isObject,
  isUndecided,
  isValid,
  optionsOf,
  type Schema,
} from '../schemas/schemas.ts'
import { violationsOf } from '../schemas/violations.ts'

export type Body = NonNullable<Operation['body']>

const BOUNDARY = 'the-end-of-a-part'

/** The `Content-Type` of a body: a concrete type where the contract has a range. */
export function contentTypeOf({ type }: Pick<Body, 'type'>): string {
  if (/^multipart\//i.test(type)) return `${type}; boundary=${BOUNDARY}`
  return type.replace('*/*', 'application/octet-stream').replace('/*', '/x-any')
}

/** Writes the value of a body: the object of a form as its fields, and a string as it is if the body is not JSON. */
export function written({ type, schema }: Pick<Body, 'type' | 'schema'>, value: unknown): string {
  if (isJson(type)) return stringify(value)
  const toText = (field: unknown) => (typeof field === 'string' ? field : stringify(field))
  const sent = Object.entries(fields(value)).flatMap(([name, field]) =>
    [field].flat().map((item) => [name, toText(item)] as const),
  )
  if (/^application\/x-www-form-urlencoded$/i.test(type))
    return new URLSearchParams(sent.map(([...pair]) => pair)).toString()
  if (!isForm(type)) return toText(value)
  const parts = sent.map(([name, text]) => {
    const file = isFile(schema, name) ? '; filename="file"' : ''
    return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${text}\r\n`
  })
  return `${parts.join('')}--${BOUNDARY}--\r\n`
}

const isForm = (type: string) => /^multipart\/|urlencoded$/i.test(type)

/** Whether a field of a form is a file. */
function isFile(schema: Schema, name: string): boolean {
  const members = optionsOf(schema).flatMap((part) => ownSchemas(part, name))
  const options = members.filter(isObject).flatMap(optionsOf)
  const items = options.flatMap((part) => (isObject(part['items']) ? optionsOf(part['items']) : []))
  return [...options, ...items].some(
    ({ format, contentMediaType, contentEncoding }) =>
      format === 'binary' || contentMediaType !== undefined || contentEncoding === 'binary',
  )
}

/**
 * Whether a value can be sent as a body. A form has no null and no list in a list. A file has ASCII only, because its length
 * is counted in bytes.
 */
export function isWritable(body: Body, value: unknown): boolean {
  if (Buffer.byteLength(written(body, value)) > body.limit) return false
  if (isBytes(body.type)) return isAscii(value)
  if (!isForm(body.type)) return true
  return Object.entries(fields(value)).every(([name, member]) => {
    const sent = [member].flat()
    const isSent = sent.every((item) => item !== null && !Array.isArray(item))
    return isSent && sent.length > 0 && (!isFile(body.schema, name) || sent.every(isAscii))
  })
}

const isAscii = (value: unknown) => typeof value !== 'string' || !/[^\0-\x7F]/.test(value)

/** A changed body, and the status of its answer; undefined if it is accepted. */
interface Sent {
  readonly label: string
  readonly text: string
  readonly status?: number
}

/**
 * Valid and invalid bodies of JSON: valid values, changed at every place.
 * @returns also the rules without a violation, and the reasons
 */
export function textsOfBody(body: Body) {
  const { schema, examples, limit } = body
  const isShort = (value: unknown) => Buffer.byteLength(stringify(value)) <= limit
  const values = [...examples, ...samplesOf(schema, 60)].filter(isShort)
  const isDecided = (value: unknown) => isShort(value) && !isUndecided(schema, value)
  const { mutants, skipped } = violationsOf(schema, values, (value) =>
    isDecided(value) ? faultsOf(schema, value) : [],
  )
  const decided = mutants.filter(([, value]) => !isUndecided(schema, value))
  const texts = new Map(
    decided.toReversed().map(([label, value]) => [stringify(value), [label, value]] as const),
  )
  const sent = [...texts].map(([text, [label, value]]): Sent => {
    if (Buffer.byteLength(text) > limit) return { label, text, status: 413 }
    const isRead = expectedOf(Buffer.from(text)) !== REFUSED
    return isRead && isValid(schema, value) ? { label, text } : { label, text, status: 400 }
  })
  return { sent, skipped }
}
