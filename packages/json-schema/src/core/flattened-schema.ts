// Walks through schemas: those of the same value, and all within reach.
import type { Keywords } from './schema.ts'
import { isContainer, isObject } from './values.ts'

/**
 * Flattens a schema: itself, the target of its reference, and its `allOf`. A value must fit all of them.
 * @param resolve finds the target of a reference
 */
export function flattenedSchema<Node extends Keywords | Readonly<Record<string, unknown>>>(
  schema: unknown,
  resolve: (schema: Node) => unknown,
): Node[] {
  const schemas = new Set<Node>()
  const add = (part: unknown): void => {
    if (!isObject(part) || schemas.has(part as Node)) return
    schemas.add(part as Node)
    add(resolve(part as Node))
    for (const branch of [part['allOf']].flat()) add(branch)
  }
  add(schema)
  return [...schemas]
}

/** A schema, all nodes in it, and the targets of references. */
export function reachable(schema: unknown, resolve: (node: Keywords) => unknown): unknown[] {
  const nodes = new Set([schema])
  for (const node of nodes) {
    if (!isContainer(node)) continue
    nodes.add(resolve(node))
    for (const child of Object.values<unknown>({ ...node })) nodes.add(child)
  }
  return [...nodes]
}
