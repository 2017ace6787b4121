// Forms: reads their fields and files by the types of the contract.
import type { FastifyRequest } from 'fastify'
import type { Field, Media } from './compiled.ts'
import { decodePair, meaningsOf, pairsOf, readText } from './parameters.ts'
import { asIs, parseJsonBody, parseText, TOO_LONG } from './parsing.ts'
import { isObject, type Validators } from './validation.ts'
import type { Parsed } from '../http/json.ts'
import { HttpError } from '../errors.ts'

/** The most fields of a form that is written as a query. The parser of forms in parts has the same bound. */
const MAX_FIELDS = 1000

/** What was sent for each field: texts to parse, or values. */
type Form = Map<string, (string | Parsed)[]>
type Fields = NonNullable<Media['fields']>

/**
 * Makes the function that reads a form. Files are held in memory.
 * @param isMultipart whether the form is in parts, or written as a query
 * @throws {HttpError} 400 for what is malformed or repeated, 413 for what is too long or too many
 */
export function formReader({ fields = {}, others, limit }: Media, isMultipart: boolean, validators: Validators) {
  const readers = new Map(Object.entries(fields).map(([name, field]) => [name, fieldReader(field, validators)]))
  const readAny = fieldReader(others ?? { types: [], list: null }, validators)
  return async (request: FastifyRequest): Promise<Parsed> => {
    const form = isMultipart ? await readParts(request, limit, fields) : readPairs(request.body as Parsed, fields)
    const values = [...form].map(([name, sent]) => {
      const read = readers.get(name) ?? readAny
      if (name === '__proto__') throw new HttpError(400, 'body must not have the property __proto__')
      if (sent.length > 1 && !read.isList) throw repeated(name)
      return [name, read(sent)] as const
    })
    const collect = (key: keyof Parsed) => Object.fromEntries(values.map(([name, each]) => [name, valueOf(each, key)]))
    return { exact: collect('exact'), plain: collect('plain') }
  }
}

/** Makes the function that reads what was sent for a field: the first meaning that its schema allows. */
function fieldReader(field: Field, validators: Validators) {
  const { types, list, schema } = field
  const only = schema === undefined ? undefined : { $ref: schema }
  const isValid = (value: unknown) => only === undefined || validators.validator(only)(value)
  const readPart = (part: string | Parsed): Parsed => {
    if (typeof part !== 'string') return part
    return (types.includes('object') ? readObject(part) : undefined) ?? asIs(readText(part, types))
  }
  const read = (sent: readonly (string | Parsed)[]) => {
    const texts = sent.map((part) => (typeof part === 'string' ? asIs(part) : part))
    const meanings = meaningsOf(field, sent.map(readPart), texts)
    return meanings.find((each) => isValid(valueOf(each, 'exact'))) ?? meanings[0] ?? []
  }
  return Object.assign(read, { isList: list !== null })
}

function valueOf(meaning: Parsed | readonly Parsed[], key: keyof Parsed): unknown {
  return 'map' in meaning ? meaning.map((each) => each[key]) : meaning[key]
}

/** An object is sent as JSON (OpenAPI 3.1.0, section 4.8.15.1.1, `contentType`). */
function readObject(text: string): Parsed | undefined {
  try {
    const parsed = parseJsonBody(Buffer.from(text))
    return isObject(parsed.exact) ? parsed : undefined
  } catch {
    return undefined
  }
}

/** Reads a form that is written as a query. */
function readPairs({ plain }: Parsed, fields: Fields): Form {
  const text = String(plain)
  if (text.split('&', MAX_FIELDS + 1).length > MAX_FIELDS) throw TOO_LONG
  try {
    const pairs = [...pairsOf(text)].map(([name, values]): [string, string[]] => {
      if (!Object.hasOwn(fields, name) || fields[name]?.list !== 'commas') return [name, values.map(decodePair)]
      if (values.length > 1) throw repeated(name)
      return [name, String(values[0]).split(',').map(decodePair)]
    })
    return new Map(pairs)
  } catch (error) {
    throw error instanceof HttpError ? error : new HttpError(400, 'The form must be UTF-8 in percent-encoding')
  }
}

const repeated = (name: string) => new HttpError(400, `body/${name} must not be repeated`)

/** Reads a form in parts: texts, JSON, and files. */
async function readParts(request: FastifyRequest, limit: number, fields: Fields): Promise<Form> {
  const form: Form = new Map()
  let size = 0
  const add = (name: string, value: string | Parsed, length: number) => {
    if ((size += length + name.length) > limit) throw TOO_LONG
    form.set(name, [...(form.get(name) ?? []), value])
  }
  try {
    // As a file, each part comes in bytes. The texts of fields would have another character where bytes are not UTF-8.
    for await (const part of request.parts({ limits: { fileSize: limit }, isPartAFile: () => true })) {
      if (part.type === 'field') continue
      const { filename, mimetype } = part as { filename?: string; mimetype: string }
      const isFile = Object.hasOwn(fields, part.fieldname) && fields[part.fieldname]?.types.includes('file') === true
      const bytes = await part.toBuffer()
      const isJson = !isFile && mimetype === 'application/json'
      if (isJson) add(part.fieldname, parseJsonBody(bytes), bytes.length)
      else if (filename === undefined) add(part.fieldname, String(parseText(bytes).plain), bytes.length)
      else add(part.fieldname, asIs(new File([new Uint8Array(bytes)], filename, { type: mimetype })), bytes.length)
    }
  } catch (error) {
    if (error instanceof HttpError) throw error
    const isTooLong = error instanceof Error && 'statusCode' in error && error.statusCode === 413
    throw isTooLong ? TOO_LONG : new HttpError(400, 'The form is malformed')
  }
  return form
}
