// A parameter or a field of a form, which arrives as strings: its possible values by the types of
// its schema, spelled as in JSON.
import { type AddedTypes, Untyped } from '@plant-store/json-schema'
import { parseJson, toExact, TooDeep } from '../../../http/json.ts'
import { HttpError } from '../../../errors.ts'

/** A string, or a file of a form. Browsers send JSON as a file, which then also has a string. */
export type SentPart = string | { readonly file: Blob; readonly text?: string | undefined }

export const REPEATED = 'must not be repeated'

/** Values of `type: file`. */
export const FILES: AddedTypes = {
  file: {
    unit: 'bytes',
    lengthOf: (value) => (value instanceof Blob ? value.size : undefined),
  },
}

/** A value sent as strings or files, not typed yet. */
export class Sent extends Untyped {
  readonly error = REPEATED
  readonly #parts: readonly SentPart[]
  readonly #items: readonly SentPart[] | null
  #list: Sent[] | undefined

  /**
   * @param parts one, or several if its name was repeated
   * @param items the items, if it is a list; null if it can't be one
   */
  constructor(parts: readonly SentPart[], items: readonly SentPart[] | null = parts) {
    super()
    this.#parts = parts
    this.#items = items
  }

  toJSON(): unknown {
    return this.#parts
  }

  candidates(types: ReadonlySet<string>): readonly unknown[] {
    const candidates = this.#scalars(types)
    if (this.#items !== null && types.has('array')) {
      // Always the same list, so that each item is decided in one place.
      this.#list ??= this.#items.map((item) => new Sent([item]))
      candidates.push(this.#list)
    }
    return candidates
  }

  /** The possible values, except a list. */
  #scalars(types: ReadonlySet<string>): unknown[] {
    const [part, ...others] = this.#parts
    const isOnlyList = types.size === 1 && types.has('array')
    if (part === undefined || others.length > 0 || isOnlyList) return []
    const value = readPart(part, types)
    const plain = typeof part === 'string' ? part : (part.text ?? part.file)
    if (value === undefined) return [plain]
    const mayBePlain = types.has('string') || types.has('any')
    return mayBePlain ? [value, plain] : [value]
  }
}

/** @returns undefined if the part is spelled as none of the types */
function readPart(part: SentPart, types: ReadonlySet<string>): unknown {
  for (const [type, read] of READERS) {
    const value = types.has(type) ? read(part) : undefined
    if (value !== undefined) return value
  }
  return undefined
}

type ReadPart = (part: SentPart) => unknown

/** By type, in the order in which they are tried. No string is null. */
const READERS: ReadonlyMap<string, ReadPart> = new Map([
  ['file', readFile],
  ['object', ofString(readObject)],
  ['integer', ofString(readInteger)],
  ['number', ofString(readNumber)],
  ['boolean', ofString(readBoolean)],
])

function readFile(part: SentPart): unknown {
  return typeof part === 'string' ? undefined : part.file
}

function ofString(read: (string: string) => unknown): ReadPart {
  return (part) => {
    const string = typeof part === 'string' ? part : part.text
    return string === undefined ? undefined : read(string)
  }
}

/**
 * An object is sent as JSON (OpenAPI 3.1.0, section 4.8.15.1.1, `contentType`).
 * @throws {HttpError} 400 if it is nested too deep
 */
function readObject(string: string): unknown {
  if (!/^\s*{[^]*}\s*$/.test(string)) return undefined // throwing an error would take longer
  try {
    return parseJson(Buffer.from(string))
  } catch (error) {
    if (error instanceof TooDeep) throw new HttpError(400, error.message)
    return undefined
  }
}

const INTEGER = /^(0|-?[1-9]\d*)$/
/** An integer of at most this many digits is exact as a double. */
const MAX_EXACT_DIGITS = 15

/** An integer in plain digits. Most are short. */
function readInteger(string: string): unknown {
  if (!INTEGER.test(string)) return undefined
  return string.length <= MAX_EXACT_DIGITS ? Number(string) : exactNumber(string)
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

function readNumber(string: string): unknown {
  return NUMBER.test(string) ? exactNumber(string) : undefined
}

/** As exact as in a body, so a bound means the same in both. */
function exactNumber(string: string): unknown {
  const value = Number(string)
  return Number.isFinite(value) ? toExact(value, string) : undefined
}

function readBoolean(string: string): unknown {
  if (string === 'true') return true
  return string === 'false' ? false : undefined
}
