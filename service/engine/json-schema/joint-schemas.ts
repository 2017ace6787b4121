import { isHolder, isObject } from './assertions.ts'
import type { Keywords } from './schema.ts'

/**
 * All schemas that a value of this schema must fit: itself, the target of its reference, and its `allOf`.
 * @param resolve finds the target of a reference
 */
export function jointSchemas<Found extends Keywords | Readonly<Record<string, unknown>>>(
  schema: unknown,
  resolve: (schema: Found) => unknown,
  seen = new Set<unknown>(),
): Found[] {
  if (!isObject(schema) || seen.has(schema)) return []
  seen.add(schema)
  const others = [resolve(schema as Found), ...[schema['allOf']].flat()]
  return [schema as Found, ...others.flatMap((each) => jointSchemas(each, resolve, seen))]
}

/** A schema, and all that it leads to: what is in it, and the targets of references. */
export function reachable(schema: unknown, resolve: (node: Keywords) => unknown): unknown[] {
  const nodes = new Set([schema])
  for (const node of nodes) {
    for (const each of isHolder(node)
      ? [resolve(node), ...Object.values<unknown>({ ...node })]
      : [])
      nodes.add(each)
  }
  return [...nodes]
}
