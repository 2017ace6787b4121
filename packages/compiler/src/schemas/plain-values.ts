// Finds values to try for a schema whose meaning is unknown.
import type { SchemaObject } from '@plant-store/json-schema'
import { samplesOfCompiled } from '../samples/compiled-reader.ts'

/** Values to try for a schema, the best one first. @param merged its keywords */
export function* plainValues(types: readonly string[], merged: SchemaObject): Generator {
  if ('const' in merged) yield merged['const']
  const values: unknown = merged['enum']
  if (Array.isArray(values)) yield* values
  if (merged['default'] !== undefined) yield merged['default']
  for (const type of types) yield* PLAIN_VALUES[type] ?? []
  yield sampleOf(merged)
}

const PLAIN_VALUES: Readonly<Record<string, readonly unknown[]>> = {
  string: ['unknown', 'about:blank', ''],
  integer: [0, 1],
  number: [0, 1],
  boolean: [false, true],
}

const OF_LEAVES =
  /^(type|format|pattern|minLength|maxLength|minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf)$/

/** Makes a value from the pattern, the format or the bounds of a schema. */
function sampleOf(merged: SchemaObject): unknown {
  const leaf = Object.entries(merged).filter(([keyword]) => OF_LEAVES.test(keyword))
  return LEAVES.exampleOf(Object.fromEntries(leaf))
}

/** Makes values of schemas without references. */
const LEAVES = samplesOfCompiled({})
