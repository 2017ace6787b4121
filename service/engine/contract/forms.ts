// Forms: reads their fields and files by the types of the contract.
import type { Field, Media } from './compiled.ts'
import { decodePair, orRefuse, pairsOf, parseText, type Sent, valueReader } from './parsing.ts'
import type { Validators } from './validation.ts'
import { HttpError } from '../errors.ts'

/**
 * Makes the function that reads a form in parts, or one that is written as a query.
 * @throws {HttpError} 400 for what is malformed or repeated
 */
export function formReader({ fields = {}, others }: Media, validators: Validators) {
  const readerOf = (field: Field) => {
    const schema = field.schema === undefined || { $ref: field.schema }
    return { ...field, read: valueReader(field, (value) => validators.isValid(schema, value)) }
  }
  const readers = new Map(Object.entries(fields).map(([name, field]) => [name, readerOf(field)]))
  const other = readerOf(others ?? { types: [], list: null })
  return async (form: FormData | string): Promise<object> => {
    const names = typeof form === 'string' ? orRefuse(() => pairsOf(form), NOT_ENCODED) : Map.groupBy(form, nameOf)
    const values = [...names].map(async ([name, sent]) => {
      const { types, list, read } = readers.get(name) ?? other
      if (name === '__proto__') throw new HttpError(400, 'body must not have the property __proto__')
      const isOne = list === null || (list === 'commas' && typeof form === 'string')
      if (sent.length > 1 && isOne) throw new HttpError(400, `body/${name} must not be repeated`)
      const texts = sent.map(async (each) => {
        if (typeof each !== 'string') return readPart(each[1], types)
        const items = list === 'commas' ? each.split(',') : [each]
        return orRefuse(() => items.map(decodePair), NOT_ENCODED)
      })
      return [name, read((await Promise.all(texts)).flat())] as const
    })
    return Object.fromEntries(await Promise.all(values))
  }
}

const NOT_ENCODED = 'The form must be UTF-8 in percent-encoding'
const nameOf = ([name]: readonly [name: string, value: unknown]) => name

/** Browsers send JSON as a file. */
async function readPart(part: string | File, types: readonly string[]): Promise<Sent> {
  if (typeof part === 'string') return part
  const isText = part.type === 'application/json' && !types.includes('file')
  return isText ? parseText(Buffer.from(await part.arrayBuffer())) : { value: part }
}

/** Parses a form in parts. @throws {HttpError} 400 if it is malformed, or has a text that is not UTF-8 */
export async function parseForm(bytes: Buffer, type = ''): Promise<FormData> {
  const response = new Response(new Uint8Array(bytes), { headers: { 'content-type': type } })
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- it holds a form in memory; the length of ours is bounded
  const form = await response.formData().catch(() => {
    throw new HttpError(400, 'The form is malformed')
  })
  // The parser replaces what is not UTF-8: such a text is not in the form to the letter.
  let at = 0
  for (const text of form.values()) {
    if (typeof text !== 'string') continue
    at = bytes.indexOf(text, at)
    if (at === -1) throw new HttpError(400, 'The body must be text in UTF-8')
  }
  return form
}
