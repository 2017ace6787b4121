// Finds constants for properties of an error whose meaning is unknown.
import { sample } from 'openapi-sampler'
import { literal, type Template } from '@plant-store/engine/for-compiler'
import { isObject, type SchemaObject } from '@plant-store/json-schema'
import { valueForError } from './error-meanings.ts'

/** A template for a constant. */
export function constantOf(value: unknown): Template {
  if (typeof value === 'string') return literal(value)
  if (Array.isArray(value)) return value.map(constantOf)
  if (!isObject(value)) return value as Template
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, constantOf(part)]))
}

/** Constants to try for a schema, the best one first. */
export function* constantsOf(types: readonly string[], merged: SchemaObject): Generator {
  if ('const' in merged) yield merged['const']
  const values: unknown = merged['enum']
  if (Array.isArray(values)) yield* [valueForError(values), ...(values as unknown[])]
  if (merged['default'] !== undefined) yield merged['default']
  for (const type of types) yield* CONSTANTS[type] ?? []
  yield sampleOf(merged)
}

const CONSTANTS: Readonly<Record<string, readonly unknown[]>> = {
  string: ['unknown', 'about:blank', ''],
  integer: [0, 1],
  number: [0, 1],
  boolean: [false, true],
}

/** Makes a value from the pattern, the format or the bounds of a schema. */
function sampleOf({ type, format, pattern, ...bounds }: SchemaObject): unknown {
  const { minLength, maxLength, minimum, maximum, multipleOf } = bounds
  const leaf: SchemaObject = {
    type,
    format,
    pattern,
    minLength,
    maxLength,
    minimum,
    maximum,
    multipleOf,
  }
  try {
    return sample(leaf, { enablePatterns: true, quiet: true })
  } catch {
    return undefined
  }
}
