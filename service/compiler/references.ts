// The references of a document, and where each object is.
import { relative } from 'node:path'
import {
  type Document,
  isRef,
  type Oas3_1Schema,
  type OasRef,
  unescapePointer,
} from '@redocly/openapi-core'
import {
  type Document as YamlDocument,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type LineCounter,
} from 'yaml'
import { StartupError } from '../engine/errors.ts'

/** A file of the contract. What the main file refers to in others is moved into it: see document.ts. */
export interface File extends Document {
  readonly isMain: boolean
  readonly yaml: YamlDocument
  readonly lines: LineCounter
}

/** An object in a file, or a member of it. */
export interface Place {
  readonly file: File
  /** A JSON pointer that begins with `#`. */
  readonly pointer: string
}

/** Where each object of the contract is, in its main file. */
const ORIGINS = new WeakMap<object, Place>()

type Refer = (place: Place, target: object) => void

/** Stores the origin of each object of a file. `refer` gets each alias of YAML with its target. @returns the references */
export function storeOrigins(file: File, refer: Refer): OasRef[] {
  const references = new Set<OasRef>()
  const stored = new Set<object>()
  const store = (node: unknown, pointer: string) => {
    if (typeof node !== 'object' || node === null) return
    if (stored.has(node)) {
      refer({ file, pointer }, node)
      return
    }
    stored.add(node)
    ORIGINS.set(node, { file, pointer })
    if (isRef(node)) references.add(node)
    for (const [key, each] of Object.entries(node)) store(each, pointer + segment(key))
  }
  store(file.parsed, '#')
  return [...references]
}

/** A step of a JSON pointer (RFC 6901, section 3). */
const segment = (key: string) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`

/** What a step of a JSON pointer names. */
export const nameOf = (step: string) => step.replaceAll('~1', '/').replaceAll('~0', '~')

/** Where an object is. @param path leads to what is in it */
export function placeOf(node: object, path: readonly string[] = []): Place {
  const origin = ORIGINS.get(node)
  if (origin === undefined) throw new Error('this object is not of the document')
  return { file: origin.file, pointer: origin.pointer + path.map(segment).join('') }
}

/** Where a person finds a place: in a line from 1 of a file, or by a pointer, if it was moved there from another file. */
export interface Position {
  /** Relative to the working folder. */
  readonly file: string
  readonly line: number
  readonly pointer?: string
}

/** Finds the line of a place. @param isBundle whether the file has parts of others, which have no line in it */
export function findPosition({ file: { source, yaml, lines }, pointer }: Place, isBundle: boolean) {
  let at: unknown = yaml.contents
  let offset = 0
  let isMoved = false
  for (const step of pointer.split('/').slice(1)) {
    const name = nameOf(step)
    const pair = isMap(at)
      ? at.items.find((each) => isScalar(each.key) && String(each.key.value) === name)
      : undefined
    const next: unknown = isSeq(at) ? at.items[Number(name)] : pair?.value
    const start = isSeq(at) ? next : pair?.key
    isMoved = isBundle && start === undefined
    if (!isNode(start) || !start.range) break // behind an alias, the line of the alias is near enough
    offset = start.range[0]
    at = isAlias(next) ? next.resolve(yaml) : next
  }
  const position = { file: relative('', source.absoluteRef), line: lines.linePos(offset).line }
  return isMoved ? { ...position, pointer } : position
}

/**
 * The target of a reference within its document, which may be a reference, too.
 * @param within the references whose pointers lead here
 * @returns undefined if the node is not a reference, or leads nowhere
 */
export function resolveReference<T>(
  node: T | OasRef,
  within: readonly unknown[] = [],
): T | undefined {
  const origin = isRef(node) && !within.includes(node) ? ORIGINS.get(node) : undefined
  if (!isRef(node) || origin === undefined) return undefined
  const [start, ...names] = node.$ref.split('/')
  let target: unknown = start === '#' ? origin.file.parsed : undefined
  for (const name of names) target = step(target, unescapePointer(name), [...within, node])
  return target as T | undefined
}

/** Follows one name of a pointer. It leads into the target of a reference only if the reference lacks the member. */
function step(from: unknown, name: string, within: readonly unknown[]): unknown {
  if (from === null) return null
  const found = member(from, name)
  const target = found === undefined ? resolveReference(from, within) : undefined
  return target === undefined ? found : step(target, name, [...within, from])
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

/** The members of an object by name. Follows the references of the object and of each member. */
export function derefEntries<T>(
  node: Readonly<Record<string, T | OasRef>> | undefined,
): [name: string, member: T][] {
  return Object.entries(deref(node) ?? {}).map(([name, each]) => [name, deref(each)])
}

/** Whether a node leads to another one, by references and by schemas for the same value. */
export function leadsTo(goal: unknown, from: unknown, seen = new Set<unknown>()): boolean {
  if (typeof from !== 'object' || from === null || seen.has(from)) return false
  seen.add(from)
  const {
    allOf,
    anyOf,
    oneOf,
    dependentSchemas,
    not,
    if: condition,
    then,
    else: otherwise,
  } = from as Oas3_1Schema
  const next = [allOf, anyOf, oneOf, dependentSchemas].flatMap((each) =>
    Object.values<unknown>(each ?? {}),
  )
  const targets = [resolveReference(from), not, condition, then, otherwise, ...next]
  return targets.some((each) => each === goal || leadsTo(goal, each, seen))
}

/** An own property of an object or a list. */
export const member = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? Reflect.get(value, key)
    : undefined
