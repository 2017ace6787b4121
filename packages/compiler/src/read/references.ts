// Follows the references of a document.
import { isRef, type OasRef, unescapePointer } from '@redocly/openapi-core'
import { StartupError } from '@plant-store/engine/for-compiler'
import { type Finding, sentenceOf } from '../sentences/sentences.ts'
import { findLocation } from './source-locations.ts'

/**
 * The direct target of a reference within its document, perhaps another reference.
 * @returns undefined if the node is not a reference, or leads nowhere
 */
export function resolveReference<T>(node: T | OasRef): T | undefined {
  const location = isRef(node) ? findLocation(node) : undefined
  return location && resolveIn(location.file.parsed, node)
}

/**
 * The direct target of a reference within a document without locations.
 * @param within the references being followed, to detect circles
 */
export function resolveIn<T>(
  root: unknown,
  node: T | OasRef,
  within: readonly unknown[] = [],
): T | undefined {
  if (!isRef(node) || within.includes(node)) return undefined
  const [start, ...names] = node.$ref.split('/')
  let target: unknown = start === '#' ? root : undefined
  for (const name of names) {
    const step = { root, name: unescapePointer(name), within: [...within, node] }
    target = follow(target, step)
  }
  return target as T | undefined
}

interface Step {
  readonly root: unknown
  /** A name of a pointer. */
  readonly name: string
  readonly within: readonly unknown[]
}

/** Follows one name of a pointer. If a reference lacks the name, it leads into the target. */
function follow(from: unknown, step: Step): unknown {
  if (from === null) return null
  const value = member(from, step.name)
  if (value !== undefined) return value
  const target = resolveIn(step.root, from, step.within)
  if (target === undefined) return undefined
  return follow(target, { ...step, within: [...step.within, from] })
}

/** Follows references to their end. Anything else is returned as it is. @throws {StartupError} if one leads nowhere */
export function deref<T>(node: T | OasRef): T {
  const target = tryDeref(node)
  if (target === undefined && isRef(node)) throw new StartupError(sentenceOf(DANGLING))
  return target as T
}

/** Follows references to their end. @returns undefined if one leads nowhere */
export function tryDeref<T>(node: T | OasRef): T | undefined {
  const target = resolveReference(node)
  if (target !== undefined) return tryDeref(target)
  return isRef(node) ? undefined : node
}

export const DANGLING: Finding = { code: 'reference-dangling' }

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

/** Decodes a reference. @returns undefined for invalid percent-encoding */
export function decode(reference: string): string | undefined {
  try {
    return decodeURIComponent(reference)
  } catch {
    return undefined
  }
}

/** A property of an object or an array; undefined for an inherited one. */
export function member(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
}
