// Follows the references of a document.
import { isRef, type Oas3_1Schema, type OasRef, unescapePointer } from '@redocly/openapi-core'
import { StartupError } from '@plant-store/engine/for-compiler'
import { findLocation } from './source-locations.ts'

/**
 * The direct target of a reference within its document, perhaps another reference.
 * @param within the references being followed, to detect circles
 * @returns undefined if the node is not a reference, or leads nowhere
 */
export function resolveReference<T>(
  node: T | OasRef,
  within: readonly unknown[] = [],
): T | undefined {
  if (!isRef(node) || within.includes(node)) return undefined
  const location = findLocation(node)
  if (location === undefined) return undefined
  const [start, ...names] = node.$ref.split('/')
  let target: unknown = start === '#' ? location.file.parsed : undefined
  for (const name of names) target = follow(target, unescapePointer(name), [...within, node])
  return target as T | undefined
}

/** Follows one name of a pointer. If a reference lacks the name, it leads into the target. */
function follow(from: unknown, name: string, within: readonly unknown[]): unknown {
  if (from === null) return null
  const value = member(from, name)
  if (value !== undefined) return value
  const target = resolveReference(from, within)
  return target === undefined ? undefined : follow(target, name, [...within, from])
}

/** Follows references to their end. Anything else is returned as it is. @throws {StartupError} if one leads nowhere */
export function deref<T>(node: T | OasRef): T {
  const target = tryDeref(node)
  if (target === undefined && isRef(node)) throw new StartupError(LEADS_NOWHERE)
  return target as T
}

/** Follows references to their end. @returns undefined if one leads nowhere */
export function tryDeref<T>(node: T | OasRef): T | undefined {
  const target = resolveReference(node)
  if (target !== undefined) return tryDeref(target)
  return isRef(node) ? undefined : node
}

export const LEADS_NOWHERE =
  "this $ref leads nowhere: write '#/components/...', or the path of a file; anchors and URLs are not served"

/** The entries of an object, with all references followed. */
export function derefEntries<T>(
  node: Readonly<Record<string, T | OasRef>> | undefined,
): [name: string, member: T][] {
  return Object.entries(deref(node) ?? {}).map(([name, value]) => [name, deref(value)])
}

/** The entries of an object, without dangling references. */
export function usableEntries<T>(
  node: Readonly<Record<string, T | OasRef>> | undefined,
): [name: string, member: T][] {
  return Object.entries({ ...tryDeref(node) }).flatMap(([name, value]) => {
    const target = tryDeref(value)
    return target === undefined ? [] : [[name, target]]
  })
}

/** Whether a node leads to another one, by references and by subschemas for the same value. */
export function leadsTo(goal: unknown, from: unknown, seen = new Set<unknown>()): boolean {
  if (typeof from !== 'object' || from === null || seen.has(from)) return false
  seen.add(from)
  const schema = from as Oas3_1Schema
  const lists = [schema.allOf, schema.anyOf, schema.oneOf, schema.dependentSchemas]
  const schemas = lists.flatMap((list) => Object.values<unknown>(list ?? {}))
  const conditions = [schema.not, schema.if, schema.then, schema.else]
  const targets = [resolveReference(from), ...conditions, ...schemas]
  return targets.some((target) => target === goal || leadsTo(goal, target, seen))
}

/** A property of an object or an array; undefined for an inherited one. */
export function member(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
}
