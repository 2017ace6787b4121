// Values that were sent as texts: of parameters, and of the fields of forms. Their schema decides what a text means.
import { ANY } from './core/allowed-types.ts'
import { isObject } from './core/values.ts'
import type { Annotation, Content, Evaluate } from './core/evaluation.ts'
import type { Problem } from './core/validation-error.ts'

/** A text; or a file of a form, with its text if browsers send such a text as a file. */
export type Part = string | { readonly file: Blob; readonly text?: string | undefined }

/**
 * By type: reads a part. It returns undefined for a part that is not spelled as this type has to be. The types stand in the
 * order in which they are tried.
 */
export type Readers = ReadonlyMap<string, (part: Part) => unknown>

/** A value that was sent as texts. */
export class Sent {
  readonly parts: readonly Part[]
  readonly #items: readonly Part[] | null
  #list: Sent[] | undefined

  /**
   * @param parts one, or more if its name was sent several times
   * @param items the items of the list that it may be; null if it can't be a list
   */
  constructor(parts: readonly Part[], items: readonly Part[] | null = parts) {
    this.parts = parts
    this.#items = items
  }

  /** The list that it may be: always the same one, so that each item is read in one place. */
  get list(): readonly Sent[] | undefined {
    if (this.#items === null) return undefined
    this.#list ??= this.#items.map((item) => new Sent([item]))
    return this.#list
  }

  /** The only part; undefined if there are several, or none. */
  get part(): Part | undefined {
    return this.parts.length === 1 ? this.parts[0] : undefined
  }
}

/** Says that a text was read as a value. */
export const READ: Content = { isRead: true, isInt64: false, isMarked: false, defaults: [] }

/**
 * Makes an evaluation that reads a value that was sent: as the first type that its schema takes, else as a text.
 * @param types the types that the schema allows
 */
export function readsSent(
  evaluate: Evaluate,
  types: ReadonlySet<string>,
  readers: Readers,
): Evaluate {
  return (value, evaluation, evaluated) => {
    if (!(value instanceof Sent)) return evaluate(value, evaluation, evaluated)
    const candidates = candidatesOf(value, types, readers)
    if (candidates.length === 0) return evaluation.fail(REPEATED_STRING)
    for (const candidate of candidates) {
      const result = evaluation.tryApart(evaluate, candidate, evaluated)
      if (result.error !== undefined) continue
      evaluation.annotate(READ, candidate)
      evaluation.add(result, evaluated)
      return true
    }
    evaluation.annotate(READ, candidates[0])
    return evaluate(candidates[0], evaluation, evaluated)
  }
}

export const REPEATED_STRING: Problem = { keyword: 'repeated', limit: undefined }

/** The values that were perhaps sent, the likeliest first. */
function candidatesOf(sent: Sent, types: ReadonlySet<string>, readers: Readers): unknown[] {
  const { part, list } = sent
  const candidates: unknown[] = []
  const isOnlyList = types.size === 1 && types.has('array')
  if (part !== undefined && !isOnlyList) {
    const value = readPart(part, types, readers)
    const text = plain(part)
    candidates.push(value ?? text)
    const mayBeText = types.has('string') || types.has(ANY)
    if (value !== undefined && mayBeText) candidates.push(text)
  }
  if (list !== undefined && types.has('array')) candidates.push(list)
  return candidates
}

/** @returns undefined if the part is spelled as none of the types */
function readPart(part: Part, types: ReadonlySet<string>, readers: Readers): unknown {
  for (const [type, read] of readers) {
    const value = types.has(type) ? read(part) : undefined
    if (value !== undefined) return value
  }
  return undefined
}

/** A part as it is, where no schema says a type. */
function plain(part: Part): unknown {
  return typeof part === 'string' ? part : (part.text ?? part.file)
}

/**
 * Puts the values in the place of the texts that were sent. If several schemas have read a text, a schema that has read it as
 * more than a text wins.
 * @param container the object that has the texts that were sent
 * @returns the keys that lead to a part that no schema has read, and that was sent several times; else undefined
 */
export function replaceSent(
  annotations: readonly Annotation[],
  container: object,
): readonly string[] | undefined {
  for (const { content, value, container: place, key } of annotations) {
    const current: unknown = Reflect.get(place, key)
    if (content.isRead && (current instanceof Sent || typeof current === 'string'))
      Reflect.set(place, key, value)
  }
  return replaceUnread(container)
}

/** Lets parts that no schema has read be texts. @returns see {@link replaceSent} */
function replaceUnread(container: object): readonly string[] | undefined {
  for (const [name, value] of Object.entries(container)) {
    if (value instanceof Sent && value.part === undefined) return [name]
    const isContainer = isObject(value) && !(value instanceof Sent)
    const repeated = isContainer ? replaceUnread(value) : undefined
    if (repeated !== undefined) return [name, ...repeated]
    Reflect.set(container, name, withoutSent(value))
  }
  return undefined
}

/** A part that no schema has read stays a text. The items of a list are replaced in it: annotations refer to them. */
function withoutSent(value: unknown): unknown {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) value[index] = withoutSent(item)
    return value
  }
  if (!(value instanceof Sent) || value.part === undefined) return value
  return plain(value.part)
}
