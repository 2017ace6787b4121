// The references of a document, and where each object was read.
import { dirname, relative, resolve } from 'node:path'
import {
  type Document,
  getLineColLocation,
  isRef,
  type Oas3_1Schema,
  type OasRef,
  type Source,
  unescapePointer,
} from '@redocly/openapi-core'
import { StartupError } from '../../errors.ts'

/** Where an object was read. The bundler may change its `$ref`, but not this. */
interface Origin {
  readonly documents: ReadonlyMap<string, Document>
  readonly source: Source
  readonly pointer: string
  readonly $ref: string | undefined
}
const ORIGINS = new WeakMap<object, Origin>()

/** Stores the origin of each object. An alias of YAML has the origin of its anchor. @returns the references */
export function storeOrigins(all: readonly Document[]): object[] {
  const documents = new Map(all.map((each) => [each.source.absoluteRef, each]))
  const references: object[] = []
  const store = (source: Source, node: unknown, pointer: string) => {
    if (typeof node !== 'object' || node === null || ORIGINS.has(node)) return
    ORIGINS.set(node, { documents, source, pointer, $ref: isRef(node) ? node.$ref : undefined })
    if (isRef(node)) references.push(node)
    for (const [key, each] of Object.entries(node)) store(source, each, pointer + segment(key))
  }
  for (const { source, parsed } of all) store(source, parsed, '#')
  return references
}

/**
 * The target of a reference, which may be a reference, too.
 * @param within the references whose pointers lead here
 * @returns undefined if the node is not a reference, or leads nowhere
 */
export function resolveReference<T>(node: T | OasRef, within: readonly unknown[] = []): T | undefined {
  const origin = isRef(node) && !within.includes(node) ? ORIGINS.get(node) : undefined
  if (origin?.$ref === undefined) return undefined
  const { documents, source, $ref } = origin
  const [file = '', pointer = ''] = $ref.split('#')
  const path = file === '' ? source.absoluteRef : resolve(dirname(source.absoluteRef), file)
  const [start, ...names] = pointer.split('/')
  let target: unknown = start === '' ? documents.get(path)?.parsed : undefined
  for (const name of names) target = step(target, unescapePointer(name), [...within, node])
  return target as T | undefined
}

/** A pointer names a literal place. It enters the target of a reference only for a member that the reference lacks. */
function step(from: unknown, name: string, within: readonly unknown[]): unknown {
  const found = member(from, name)
  const target = found === undefined ? resolveReference(from, within) : undefined
  return target === undefined ? found : step(target, name, [...within, from])
}

/** Follows references to their end. Anything else is returned as it is. @throws {StartupError} if one leads nowhere */
export function deref<T>(node: T | OasRef): T {
  const target = resolveReference(node)
  if (target !== undefined) return deref(target)
  if (isRef(node)) throw new StartupError(`${findLine(node, '$ref')}: ${LEADS_NOWHERE}`)
  return node
}

export const LEADS_NOWHERE = "this $ref leads nowhere: write '#/components/...', anchors are not served"

/** The members of an object by name. Follows the references of the object and of each member. */
export function derefEntries<T>(node: Readonly<Record<string, T | OasRef>> | undefined): [name: string, member: T][] {
  return Object.entries(deref(node) ?? {}).map(([name, each]) => [name, deref(each)])
}

/** The file and the line of an object, or of its member `key`. */
export function findLine(node: object, key?: string): string {
  const origin = ORIGINS.get(node)
  if (origin === undefined) return ''
  const pointer = origin.pointer + (key === undefined ? '' : segment(key))
  return lineOf({ source: origin.source, pointer, reportOnKey: true })
}

/** The file and the line of a place in it. */
export function lineOf(location: Parameters<typeof getLineColLocation>[0]): string {
  return `${relative('', location.source.absoluteRef)}:${getLineColLocation(location).start.line}`
}

/** Refuses references that lead back to themselves, and keywords that the bundler would lose. */
export function checkReferences(references: readonly object[], main: Source): void {
  for (const each of references) {
    if (leadsTo(each, each)) throw new StartupError(`${findLine(each)}: the reference leads back to itself`)
    const target = ORIGINS.get(each)?.documents.size === 1 ? undefined : resolveReference<object>(each)
    if (!isRef(target) || Object.keys(target).every((key) => /^(\$ref|summary|description)$/.test(key))) continue
    // Across files, the bundler replaces a reference to a reference by one to the end of both.
    if ([each, target, deref<object>(target)].every((node) => ORIGINS.get(node)?.source === main)) continue
    const fault = 'keywords beside this $ref are lost where other files refer to it: write "allOf: [{ $ref: ... }]"'
    throw new StartupError(`${findLine(target)}: ${fault}`)
  }
}

/** Whether a reference leads to a node: by references, and by schemas for the same value. */
function leadsTo(goal: unknown, from: unknown, seen = new Set<unknown>()): boolean {
  if (typeof from !== 'object' || from === null || seen.has(from)) return false
  seen.add(from)
  const { allOf, anyOf, oneOf, dependentSchemas, not, if: condition, then, else: otherwise } = from as Oas3_1Schema
  const next = [allOf, anyOf, oneOf, dependentSchemas].flatMap((each) => Object.values<unknown>(each ?? {}))
  const targets = [resolveReference(from), not, condition, then, otherwise, ...next]
  return targets.some((each) => each === goal || leadsTo(goal, each, seen))
}

/** A step of a JSON pointer in a fragment of a URI (RFC 6901, section 6), as Redocly decodes it. */
const segment = (key: string) => `/${key.replaceAll('%', '%25').replaceAll('~', '~0').replaceAll('/', '~1')}`

/** An own property of an object or a list. */
export function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
}
