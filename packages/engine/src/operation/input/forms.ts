// Parses forms into the strings and files of their fields.
import { isJsonType, typeInUtf8 } from './content-type.ts'
import { type MultipartPart, parseParts } from './multipart.ts'
import { decodePair, orRefuse, parseText } from './strings/parsing.ts'
import { Sent, type SentPart } from './strings/sent.ts'
import { HttpError } from '../../errors.ts'

/** The entries of a form: names, each with a string or a file. A name may occur several times. */
type FormEntries = readonly Entry[]
type Entry = readonly [name: string, value: string | MultipartPart]

const MAX_ENTRIES = 1000
const TOO_MANY = new HttpError(413, `The form has more than ${MAX_ENTRIES} names and parts`)

/**
 * Makes an object of a form, with the sent values of each name.
 * @throws {HttpError} 400 for the name `__proto__`, and for a string not in UTF-8
 */
export function readForm(form: FormEntries): object {
  const fields: Record<string, Sent> = {}
  for (const [name, entries] of Map.groupBy(form, ([name]) => name)) {
    if (name === '__proto__') throw new HttpError(400, 'body must not have the property __proto__')
    fields[name] = new Sent(entries.map(([, value]) => partOf(value)))
  }
  return fields
}

/** The sent value of a name. Browsers send JSON as a file. */
function partOf(value: string | MultipartPart): SentPart {
  if (typeof value === 'string') return value
  const { bytes, filename, type = 'text/plain' } = value
  if (filename === undefined) return parseText(bytes)
  const file = new File([new Uint8Array(bytes)], filename, { type })
  if (!isJsonType(typeInUtf8(type))) return { file }
  return {
    file,
    get text() {
      return parseText(bytes)
    },
  }
}

/**
 * Parses a form in a query string. @throws {HttpError} 400 if it is not UTF-8, 413 if it has too
 * many names
 */
export function parseUrlencoded(bytes: Buffer): FormEntries {
  const decode = (pair: string): Entry => {
    const [name = '', value = ''] = pair.split(/=(.*)/s).map(decodePair)
    return [name, value]
  }
  const pairs = parseText(bytes).matchAll(/[^&]+/g)
  return orRefuse(
    () => listEntries(pairs.map(([pair]) => decode(pair))),
    'The form must be UTF-8 in percent-encoding',
  )
}

/**
 * Parses a form in parts. @throws {HttpError} 400 if it is malformed, 413 if it has too many parts
 */
export function parseMultipart(bytes: Buffer, contentType: string): FormEntries {
  return listEntries(parseParts(bytes, contentType).map((part) => [part.name, part]))
}

/** Lists the entries found by a parser, up to the most for a form. */
function listEntries(entries: Iterable<Entry>): FormEntries {
  const form: Entry[] = []
  for (const entry of entries) {
    if (form.length === MAX_ENTRIES) throw TOO_MANY
    form.push(entry)
  }
  return form
}
