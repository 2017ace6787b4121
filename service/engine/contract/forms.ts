// Forms: reads their fields and files by the types of the contract.
import type { Media, Reading } from './compiled.ts'
import { isJsonType, typeInUtf8 } from './media-types.ts'
import { type Part, parseParts } from './multipart.ts'
import { decodePair, orRefuse, parseText, type Sent, valueReader } from './parsing.ts'
import type { Validators } from './validation.ts'
import { HttpError } from '../errors.ts'

/** What a form has: each name with what was sent for it. A name may be there several times. */
type Form = readonly Entry[]
type Entry = readonly [name: string, sent: string | Part]

const MAX_ENTRIES = 1000
const TOO_MANY = new HttpError(413, `The form has more than ${MAX_ENTRIES} names and parts`)

/**
 * Makes the function that reads a form.
 * @throws {HttpError} 400 for a field that must not be repeated, or is not UTF-8
 */
export function formReader({ fields = {}, others }: Media, validators: Validators) {
  const readerOf = (field: Reading) => ({ ...field, read: valueReader(field, validators) })
  const readers = new Map(Object.entries(fields).map(([name, field]) => [name, readerOf(field)]))
  const other = readerOf(others ?? { types: [], list: null })
  return (form: Form): object => {
    const values: Record<string, unknown> = {}
    for (const [name, entries] of Map.groupBy(form, ([name]) => name)) {
      const { types, list, read } = readers.get(name) ?? other
      if (name === '__proto__')
        throw new HttpError(400, 'body must not have the property __proto__')
      if (entries.length > 1 && list === null)
        throw new HttpError(400, `body/${name.slice(0, 100)} must not be repeated`)
      values[name] = read(entries.map(([, sent]) => readPart(sent, types)))
    }
    return values
  }
}

/** Browsers send JSON as a file. */
function readPart(part: string | Part, types: readonly string[]): Sent {
  if (typeof part === 'string') return part
  const { bytes, filename, type = 'text/plain' } = part
  const isText = isJsonType(typeInUtf8(type)) && !types.includes('file')
  if (filename === undefined || isText) return parseText(bytes)
  return { value: new File([new Uint8Array(bytes)], filename, { type }) }
}

/** Parses a form that is written as a query. @throws {HttpError} 400 if it is not UTF-8, 413 if it has too many names */
export function parseUrlencoded(bytes: Buffer): Form {
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

/** Parses a form in parts. @throws {HttpError} 400 if it is malformed, 413 if it has too many parts */
export function parseMultipart(bytes: Buffer, contentType: string): Form {
  return listEntries(parseParts(bytes, contentType).map((part) => [part.name, part]))
}

/** Lists what a parser finds, as long as a form may have it. */
function listEntries(entries: Iterable<Entry>): Form {
  const form: Entry[] = []
  for (const entry of entries) {
    if (form.length === MAX_ENTRIES) throw TOO_MANY
    form.push(entry)
  }
  return form
}
