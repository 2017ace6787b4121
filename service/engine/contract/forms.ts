// Forms: reads their fields and files by the types of the contract.
import type { Media, Reading } from './compiled.ts'
import { decodePair, orRefuse, parseText, type Sent, valueReader } from './parsing.ts'
import type { Validators } from './validation.ts'
import { HttpError } from '../errors.ts'

/** The names of a form, with what was sent for each. */
type Form = Iterable<readonly [name: string, sent: string | File]>

/** Makes the function that reads a form. @throws {HttpError} 400 for a field that must not be repeated */
export function formReader({ fields = {}, others }: Media, validators: Validators) {
  const readerOf = (field: Reading) => ({ ...field, read: valueReader(field, validators) })
  const readers = new Map(Object.entries(fields).map(([name, field]) => [name, readerOf(field)]))
  const other = readerOf(others ?? { types: [], list: null })
  return async (form: Form): Promise<object> => {
    const fields = Map.groupBy(form, ([name]) => name)
    const values = [...fields].map(async ([name, sent]) => {
      const { types, list, read } = readers.get(name) ?? other
      if (name === '__proto__')
        throw new HttpError(400, 'body must not have the property __proto__')
      if (sent.length > 1 && list === null)
        throw new HttpError(400, `body/${name.slice(0, 100)} must not be repeated`)
      return [
        name,
        read(await Promise.all(sent.map(([, value]) => readPart(value, types)))),
      ] as const
    })
    return Object.fromEntries(await Promise.all(values))
  }
}

/** Browsers send JSON as a file. */
async function readPart(part: string | File, types: readonly string[]): Promise<Sent> {
  if (typeof part === 'string') return part
  const isText = part.type === 'application/json' && !types.includes('file')
  return isText ? parseText(Buffer.from(await part.arrayBuffer())) : { value: part }
}

/** Parses a form that is written as a query. @throws {HttpError} 400 if it is not UTF-8 */
export function parsePairs(bytes: Buffer): Form {
  const pairs = parseText(bytes).split('&')
  const decode = (pair: string) => {
    const [name = '', value = ''] = pair.split(/=(.*)/s).map(decodePair)
    return [name, value] as const
  }
  const sent = pairs.filter((each) => each !== '')
  return orRefuse(() => sent.map(decode), 'The form must be UTF-8 in percent-encoding')
}

/** Parses a form in parts. @throws {HttpError} 400 if it is malformed, or has a text that is not UTF-8 */
export async function parseParts(bytes: Buffer, type = ''): Promise<Form> {
  const response = new Response(new Uint8Array(bytes), { headers: { 'content-type': type } })
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- it holds a form in memory; the length of ours is bounded
  const form = await response.formData().catch(() => {
    throw new HttpError(400, 'The form is malformed')
  })
  // The parser puts U+FFFD in the place of bytes that are not UTF-8: such a text is not among the bytes.
  let at = 0
  // A quote in a name is escaped, so only names with U+FFFD are looked for.
  for (const text of [...form].flatMap(([name, value]) => [
    name.includes('\ufffd') ? name : '',
    value,
  ])) {
    if (typeof text !== 'string') continue
    at = bytes.indexOf(text, at)
    if (at === -1) throw new HttpError(400, 'The body must be text in UTF-8')
    at += Buffer.byteLength(text)
  }
  return form
}
