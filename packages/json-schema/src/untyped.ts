// The hook for values without a type, such as strings of a form: their schema decides which of several values each one is.
import { ANY } from './core/allowed-types.ts'
import type { Annotation, AnnotationContent, Evaluate } from './core/evaluation.ts'
import type { Problem } from './core/validation-error.ts'
import { isObject } from './core/values.ts'

/** A value without a type. The caller extends this class. */
export abstract class Untyped {
  /** The error of a value without a candidate, such as `must not be repeated`. */
  abstract readonly error: string
  /**
   * The values to choose from, the likeliest first.
   * @param types allowed by the schema; `any` among them if it allows all
   */
  abstract candidates(types: ReadonlySet<string>): readonly unknown[]
  /** Equal JSON means equal values, for `uniqueItems`. */
  abstract toJSON(): unknown
}

/** Marks a value as decided. */
export const DECIDED: AnnotationContent = {
  isDecided: true,
  isInt64: false,
  isMarked: false,
  defaults: [],
}

/**
 * Makes an evaluation decide on untyped values: the first candidate that fits the schema, else the first one.
 * @param types allowed by the schema
 */
export function decidesType(evaluate: Evaluate, types: ReadonlySet<string>): Evaluate {
  return (value, evaluation, evaluated) => {
    if (!(value instanceof Untyped)) return evaluate(value, evaluation, evaluated)
    const candidates = value.candidates(types)
    if (candidates.length === 0) return evaluation.fail(problemOf(value))
    for (const candidate of candidates) {
      const result = evaluation.tryApart(evaluate, candidate, evaluated)
      if (result.error !== undefined) continue
      evaluation.annotate(DECIDED, candidate)
      evaluation.add(result, evaluated)
      return true
    }
    evaluation.annotate(DECIDED, candidates[0])
    return evaluate(candidates[0], evaluation, evaluated)
  }
}

function problemOf({ error }: Untyped): Problem {
  return { keyword: 'untyped', limit: error }
}

/** An untyped value without a candidate, and its keys. */
export interface Undecided {
  readonly path: readonly string[]
  readonly problem: Problem
}

/**
 * Replaces untyped values. Where several schemas have decided, any value wins over a string.
 * @param container the object with the untyped values
 * @returns undefined if each value could be replaced
 */
export function replaceUntyped(
  annotations: readonly Annotation[],
  container: object,
): Undecided | undefined {
  for (const { content, value, container: place, key } of annotations) {
    const current: unknown = Reflect.get(place, key)
    if (content.isDecided && (current instanceof Untyped || typeof current === 'string'))
      Reflect.set(place, key, value)
  }
  return replaceRest(container)
}

const ANY_TYPE: ReadonlySet<string> = new Set([ANY])

/** Replaces the undecided values. @returns as {@link replaceUntyped} does */
function replaceRest(container: object): Undecided | undefined {
  for (const [name, value] of Object.entries(container)) {
    if (value instanceof Untyped && value.candidates(ANY_TYPE).length === 0)
      return { path: [name], problem: problemOf(value) }
    const isNested = isObject(value) && !(value instanceof Untyped)
    const undecided = isNested ? replaceRest(value) : undefined
    if (undecided !== undefined) return { ...undecided, path: [name, ...undecided.path] }
    Reflect.set(container, name, withoutUntyped(value))
  }
  return undefined
}

/** The items of a list are replaced in the list itself: annotations refer to it. */
function withoutUntyped(value: unknown): unknown {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) value[index] = withoutUntyped(item)
    return value
  }
  return value instanceof Untyped ? value.candidates(ANY_TYPE)[0] : value
}
