// The references of a document, and where each object was read.
import { dirname, relative, resolve } from 'node:path'
import {
  type Document,
  isRef,
  type Oas3_1Schema,
  type OasRef,
  type Source,
  unescapePointer,
} from '@redocly/openapi-core'
import { type Document as YamlDocument, isAlias, isMap, isNode, isScalar, isSeq, type LineCounter } from 'yaml'
import { StartupError } from '../../errors.ts'

/** Reports something about an object in the document, or about its member `key`. The text says what to write instead. */
export type Report = (node: object, text: string, key?: string) => void

/** Where an object was read. The bundler may change its `$ref`, but not this. */
interface Origin {
  readonly documents: ReadonlyMap<string, Document>
  readonly source: Source
  readonly pointer: string
  /** The object or the list that holds it. */
  readonly holder: object | undefined
  readonly $ref: string | undefined
}
const ORIGINS = new WeakMap<object, Origin>()
/** The references that lead to an object. */
const REFERENCES = new WeakMap<object, object[]>()

/** Stores the origin of each object. An alias of YAML has the origin of its anchor. @returns the references */
export function storeOrigins(all: readonly Document[]): object[] {
  const documents = new Map(all.map((each) => [each.source.absoluteRef, each]))
  const references: object[] = []
  const store = (source: Source, node: unknown, pointer: string, holder?: object) => {
    if (typeof node !== 'object' || node === null || ORIGINS.has(node)) return
    ORIGINS.set(node, { documents, source, pointer, holder, $ref: isRef(node) ? node.$ref : undefined })
    if (isRef(node)) references.push(node)
    for (const [key, each] of Object.entries(node)) store(source, each, pointer + segment(key), node)
  }
  for (const { source, parsed } of all) store(source, parsed, '#')
  for (const each of references) {
    const target: unknown = resolveReference(each)
    if (typeof target === 'object' && target !== null) REFERENCES.set(target, [...(REFERENCES.get(target) ?? []), each])
  }
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
  const target = tryDeref(node)
  if (target === undefined && isRef(node)) throw new StartupError(LEADS_NOWHERE)
  return target as T
}

/** Follows references to their end. @returns undefined if one leads nowhere */
export function tryDeref<T>(node: T | OasRef): T | undefined {
  const target = resolveReference(node)
  return target !== undefined ? tryDeref(target) : isRef(node) ? undefined : node
}

export const LEADS_NOWHERE = "this $ref leads nowhere: write '#/components/...', anchors are not served"

/** The members of an object by name. Follows the references of the object and of each member. */
export function derefEntries<T>(node: Readonly<Record<string, T | OasRef>> | undefined): [name: string, member: T][] {
  return Object.entries(deref(node) ?? {}).map(([name, each]) => [name, deref(each)])
}

/** The YAML of each file. */
const LINES = new WeakMap<Source, { readonly document: YamlDocument; readonly lines: LineCounter }>()

export function storeLines(source: Source, document: YamlDocument, lines: LineCounter): void {
  LINES.set(source, { document, lines })
}

/** The YAML of a file. */
export const yamlOf = (source: Source): YamlDocument | undefined => LINES.get(source)?.document

/** The file and the line of an object, or of its member `key`. */
export function findPlace(node: object, key?: string): { file: string; line: number } {
  const { source, pointer = '#' } = ORIGINS.get(node) ?? {}
  const { document, lines } = (source && LINES.get(source)) ?? {}
  if (source === undefined || document === undefined || lines === undefined) return { file: '', line: 1 }
  const names = pointer.split('/').slice(1).map(unescapePointer)
  let at: unknown = document.contents
  let offset = 0
  for (const name of key === undefined ? names : [...names, key]) {
    const pair = isMap(at) ? at.items.find((each) => isScalar(each.key) && String(each.key.value) === name) : undefined
    const next: unknown = isSeq(at) ? at.items[Number(name)] : pair?.value
    const start = isSeq(at) ? next : pair?.key
    if (!isNode(start) || !start.range) break // behind an alias, the line of the alias is near enough
    offset = start.range[0]
    at = isAlias(next) ? next.resolve(document) : next
  }
  return { file: relative('', source.absoluteRef), line: lines.linePos(offset).line }
}

/** The file and the pointer of an object, or of its member `key`. */
export function pointerTo(node: object, key?: string): string {
  const { source, pointer } = ORIGINS.get(node) ?? {}
  return `${source?.absoluteRef}${pointer}${key === undefined ? '' : segment(key)}`
}

/** The innermost object at a pointer of a document, and its member that is no object, or does not exist. */
export function findNode({ parsed }: Document, pointer: string): { node: object; key?: string } {
  let node = parsed as object
  for (const name of pointer
    .replace(/^#?\/?/, '')
    .split('/')
    .map(unescapePointer)) {
    const next = member(node, name)
    if (typeof next !== 'object' || next === null) return name === '' ? { node } : { node, key: name }
    node = next
  }
  return { node }
}

/** The members of a document that do not concern all operations. */
const PARTS = /^#\/(paths|components|webhooks|x-[^/]*)$/

/** The references to an object, and the object that holds it; null if it is the document or a member that concerns all of it. */
export function holdersOf(node: object): { references: readonly object[]; holder: object | null | undefined } {
  const { documents, source, pointer = '#', holder } = ORIGINS.get(node) ?? {}
  const [main] = documents?.keys() ?? []
  const isTop = main === source?.absoluteRef && /^#(\/[^/]*)?$/.test(pointer)
  const isPart = isTop && PARTS.test(pointer)
  return { references: REFERENCES.get(node) ?? [], holder: isPart ? undefined : isTop ? null : holder }
}

/** Refuses references that lead back to themselves, and removes them: nobody could follow them. */
export function breakCircles(references: readonly object[], refuse: Report): void {
  for (const each of references) {
    if (!leadsTo(each, each)) continue
    refuse(each, 'the reference leads back to itself')
    Reflect.deleteProperty(each, '$ref')
  }
}

/** Refuses keywords that the bundler would lose. */
export function checkReferences(references: readonly object[], main: Source, refuse: Report): void {
  for (const each of references) {
    const target = ORIGINS.get(each)?.documents.size === 1 ? undefined : resolveReference<object>(each)
    if (!isRef(target) || Object.keys(target).every((key) => /^(\$ref|summary|description)$/.test(key))) continue
    // Across files, the bundler replaces a reference to a reference by one to the end of both.
    if ([each, target, tryDeref(target)].every((node) => node && ORIGINS.get(node)?.source === main)) continue
    refuse(target, 'keywords beside this $ref are lost where other files refer to it: write "allOf: [{ $ref: ... }]"')
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
