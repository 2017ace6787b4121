import { isObject } from './assertions.ts'
import type { Keywords } from './compiled.ts'

/**
 * All schemas that a value of this schema must fit: itself, the target of its reference, and its `allOf`.
 * @param resolve finds the target of a reference
 */
export function allParts<Part extends Keywords | Readonly<Record<string, unknown>>>(
  schema: unknown,
  resolve: (schema: Part) => unknown,
  seen = new Set<unknown>(),
): Part[] {
  if (!isObject(schema) || seen.has(schema)) return []
  seen.add(schema)
  const others = [resolve(schema as Part), ...[schema['allOf']].flat()]
  return [schema as Part, ...others.flatMap((each) => allParts(each, resolve, seen))]
}
