// Shows a schema in a message, as one line.
import { inspect } from 'node:util'
import type { Compiled } from './compiled.ts'
import { isObject } from '@plant-store/json-schema'

const SHOWN = { depth: Infinity, breakLength: Infinity, compact: true } as const
const MAX_SHOWN_LENGTH = 600
/** How many references within each other are shown with their targets. */
const MAX_SHOWN_REFERENCES = 2

/** Shows a schema, with the targets of its references. A long one is cut. */
export function textOfSchema(schemas: Compiled['schemas'], id: string): string {
  const text = inspect(withTargets(schemas, { $ref: id }, MAX_SHOWN_REFERENCES), SHOWN)
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text
}

/** Copies a schema, with the targets of references in their places. */
function withTargets(schemas: Compiled['schemas'], node: unknown, levels: number): unknown {
  if (Array.isArray(node)) return node.map((item) => withTargets(schemas, item, levels))
  if (!isObject(node)) return node
  const { $ref, ...beside } = node
  const target = typeof $ref === 'string' && levels > 0 ? schemas[$ref] : undefined
  if (isObject(target)) return withTargets(schemas, { ...target, ...beside }, levels - 1)
  const members = Object.entries(node).map(([key, value]) => [
    key,
    withTargets(schemas, value, levels),
  ])
  return Object.fromEntries(members)
}
