// An error of a value: its place, and the keyword which refuses the value.
import type { Keywords } from './schema.ts'

/** The name of a property, or the index of an item. */
export type Key = string | number

/** The keys from the whole value down to a value: its instance location. Neighbours share the keys of their container. */
export interface Path {
  readonly key: Key
  /** The path of the container; undefined for the whole value, whose key is its name. */
  readonly above: Path | undefined
  readonly length: number
}

/** The keys of a path, in order. */
export function keysOf(path: Path | undefined): Key[] {
  const keys: Key[] = []
  for (let at = path; at !== undefined; at = at.above) keys.push(at.key)
  return keys.reverse()
}

export type BoundKeyword =
  'minimum' | 'maximum' | 'exclusiveMinimum' | 'exclusiveMaximum' | 'multipleOf'
export type SizeKeyword = `${'min' | 'max'}${'Length' | 'Items' | 'Properties'}`

/** By keyword: the part of the schema which refuses the value. The last ones are errors without a keyword. */
export type Limits = Record<BoundKeyword, number | bigint> &
  Record<SizeKeyword, number> & {
    readonly type: readonly string[]
    readonly enum: readonly unknown[]
    readonly const: unknown
    readonly pattern: string
    readonly format: string
    readonly uniqueItems: true
    /** The name of the missing property. */
    readonly required: string
    readonly anyOf: undefined
    readonly oneOf: undefined
    readonly not: undefined
    /** The fewest and the most items to fit. */
    readonly contains: { readonly least: number; readonly most: number }
    /** A schema `false`: the name or the index of the forbidden part. */
    readonly false: Key
    /** A property which only the other side sends. */
    readonly readOnly: true
    /** An untyped value without a candidate: the sentence of the caller. */
    readonly untyped: string
    /** The most properties filled in by one default, and by all defaults. */
    readonly default: number
    readonly defaults: number
    /** The value is nested deeper than the stack of the process allows. */
    readonly nesting: undefined
  }
export type ErrorKeyword = keyof Limits

/** An error without its place. */
export type Problem<Name extends ErrorKeyword = ErrorKeyword> = {
  readonly [Keyword in Name]: {
    readonly keyword: Keyword
    readonly limit: Limits[Keyword]
    /** The schema of the keyword, if its other keywords make the sentence clearer. */
    readonly schema?: Keywords | undefined
    /** The unit of a length, if it is not characters. */
    readonly unit?: string | undefined
  }
}[Name]

/** An error of a value. */
export interface ValidationError {
  readonly path: Path
  readonly problem: Problem
}

/** Of the errors of all alternatives, the deepest one. @returns undefined if two are as deep */
export function bestMatch(errors: readonly ValidationError[]): ValidationError | undefined {
  let best: ValidationError | undefined
  let isTie = false
  for (const error of errors) {
    const difference = best === undefined ? 1 : rankOf(error) - rankOf(best)
    if (difference === 0) isTie = true
    if (difference <= 0) continue
    best = error
    isTie = false
  }
  return isTie ? undefined : best
}

/** `enum` and `const` rank last: often they only tell alternatives apart. */
function rankOf({ problem: { keyword }, path }: ValidationError): number {
  return keyword === 'enum' || keyword === 'const' ? 0 : path.length
}
