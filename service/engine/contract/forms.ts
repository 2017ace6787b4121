// Forms: reads their fields and files by the types of the contract.
import type { FastifyRequest } from 'fastify'
import type { Field, Media } from './compiled.ts'
import { decodePair, orRefuse, pairsOf, parseText, type Sent, TOO_LONG, valueReader } from './parsing.ts'
import type { Validators } from './validation.ts'
import { parseSent } from '../http/json.ts'
import { HttpError } from '../errors.ts'

/** The most fields of a form that is written as a query. The parser of forms in parts has the same bound. */
const MAX_FIELDS = 1000

/** What was sent for each field. */
type Form = Map<string, Sent[]>
type Fields = NonNullable<Media['fields']>

/**
 * Makes the function that reads a form. Files are held in memory.
 * @param isMultipart whether the form is in parts, or written as a query
 * @throws {HttpError} 400 for what is malformed or repeated, 413 for what is too long or too many
 */
export function formReader({ fields = {}, others, limit }: Media, isMultipart: boolean, validators: Validators) {
  const readerOf = (field: Field) => {
    const schema = field.schema === undefined || { $ref: field.schema }
    return { list: field.list, read: valueReader(field, (value) => validators.isValid(schema, value)) }
  }
  const readers = new Map(Object.entries(fields).map(([name, field]) => [name, readerOf(field)]))
  const other = readerOf(others ?? { types: [], list: null })
  return async (request: FastifyRequest): Promise<object> => {
    const form = isMultipart ? await readParts(request, limit, fields) : readPairs(String(request.body), fields)
    const values = [...form].map(([name, sent]) => {
      const { list, read } = readers.get(name) ?? other
      if (name === '__proto__') throw new HttpError(400, 'body must not have the property __proto__')
      if (sent.length > 1 && list === null) throw repeated(name)
      return [name, read(sent)] as const
    })
    return Object.fromEntries(values)
  }
}

/** Reads a form that is written as a query. */
function readPairs(text: string, fields: Fields): Form {
  if (text.split('&', MAX_FIELDS + 1).length > MAX_FIELDS) throw TOO_LONG
  const read = () =>
    [...pairsOf(text)].map(([name, values]): [string, string[]] => {
      if (!Object.hasOwn(fields, name) || fields[name]?.list !== 'commas') return [name, values.map(decodePair)]
      if (values.length > 1) throw repeated(name)
      return [name, String(values[0]).split(',').map(decodePair)]
    })
  return new Map(orRefuse(read, 'The form must be UTF-8 in percent-encoding'))
}

const repeated = (name: string) => new HttpError(400, `body/${name} must not be repeated`)

/** Reads a form in parts: texts, JSON, and files. */
async function readParts(request: FastifyRequest, limit: number, fields: Fields): Promise<Form> {
  const form: Form = new Map()
  let size = 0
  const add = (name: string, value: Sent, length: number) => {
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
      if (isJson) add(part.fieldname, { value: parseSent(bytes) }, bytes.length)
      else if (filename === undefined) add(part.fieldname, parseText(bytes), bytes.length)
      else add(part.fieldname, { value: new File([new Uint8Array(bytes)], filename, { type: mimetype }) }, bytes.length)
    }
  } catch (error) {
    if (error instanceof HttpError) throw error
    const isTooLong = error instanceof Error && 'statusCode' in error && error.statusCode === 413
    throw isTooLong ? TOO_LONG : new HttpError(400, 'The form is malformed')
  }
  return form
}
