// Fills in the defaults of absent properties. A default is an annotation (2020-12 validation, section 9.2).
import type { Annotation } from './core/evaluation.ts'
import type { Schema } from './core/schema.ts'
import type { Problem } from './core/validation-error.ts'
import { isObject } from './core/values.ts'
import { MAX_FILLED_IN } from './core/sentences.ts'

/** The compiler leaves such a default out. */
const FILLS_IN_TOO_MUCH: Problem = { keyword: 'default', limit: MAX_FILLED_IN }
/** The most defaults of a value: a few bytes of a list could become many objects. */
const MAX_DEFAULTS = 100_000
const TOO_MANY_DEFAULTS: Problem = { keyword: 'defaults', limit: MAX_DEFAULTS }

/** Evaluates a default by the schema of its property, at its place. */
type Annotate = (schema: Schema, container: object, name: string) => readonly Annotation[]

/**
 * Fills in defaults, and the defaults of properties in them.
 * @param annotations of the value; the annotations of defaults are added to them
 * @returns the problem, if one default or all of them fill in too much
 */
export function fillInDefaults(annotations: Annotation[], annotate: Annotate): Problem | undefined {
  let total = 0
  /** By the index of a default's annotation: the number of properties filled in for the same absent one. */
  const counts: { filledIn: number }[] = []
  // The loop reaches the annotations added in it.
  for (const [index, annotation] of annotations.entries()) {
    const { content, value: container } = annotation
    if (!isObject(container)) continue
    for (const { name, value, schema } of content.defaults) {
      if (Object.hasOwn(container, name)) continue
      const count = counts[index] ?? { filledIn: 0 }
      count.filledIn += 1
      if (count.filledIn > MAX_FILLED_IN) return FILLS_IN_TOO_MUCH
      total += 1
      if (total > MAX_DEFAULTS) return TOO_MANY_DEFAULTS
      container[name] = copy(value)
      for (const added of annotate(schema, container, name)) {
        counts[annotations.length] = count
        annotations.push(added)
      }
    }
  }
  return undefined
}

/** Copies a default. `structuredClone` would take ten times as long. */
function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, property]) => [name, copy(property)]))
}
