// Finds links to URLs and to files out of reach, where the compiler follows no link, such as in `externalValue`. They are served
// unchanged. The bundler reports such links in references.
import { isObject } from '@plant-store/json-schema'
import type { Finding } from '../sentences/sentences.ts'
import { type ObjectKind, isValue, objectKindOf } from './no-op-fields.ts'
import { type File, type SourceLocation, tokenOf } from './source-locations.ts'

export interface UnreadLink extends SourceLocation {
  readonly finding: Finding
}

/** Fields with a link for people and clients. */
const LINK = /^(externalValue|operationRef)$/

/** @param isOutOfReach whether a reference leads to a URL, or to a file out of reach */
export function findUnreadLinks(file: File, isOutOfReach: (ref: string) => boolean): UnreadLink[] {
  const links: UnreadLink[] = []
  const visited = new Set<unknown>()
  const find = (value: unknown, pointer: string): void => {
    if (typeof value !== 'string' || !isOutOfReach(value)) return
    links.push({ file, pointer, finding: { code: 'link-not-read' } })
  }
  const visit = (node: unknown, pointer: string, kind: ObjectKind, isExtension: boolean): void => {
    if (typeof node !== 'object' || node === null || visited.has(node)) return
    visited.add(node)
    for (const [name, child] of Object.entries(node)) {
      const place = pointer + tokenOf(name)
      for (const [path, link] of linksOf(name, child, isExtension)) find(link, place + path)
      const isInExtension = isExtension || name.startsWith('x-')
      if (!isInExtension && isLiteral(name, kind)) continue
      const kindOfChild = Array.isArray(node) ? kind : objectKindOf(name, child, kind)
      visit(child, place, kindOfChild, isInExtension)
    }
  }
  visit(file.parsed, '#', 'fields', false)
  return links
}

/** Whether a key has a value of the API. Outside of a schema, `examples` are objects by name, which may have links. */
function isLiteral(name: string, kind: ObjectKind): boolean {
  const isByName = name === 'examples' && kind === 'fields'
  return isValue(name, kind) && !isByName
}

/** The links at a key, with their paths below it. In an extension, a `$ref` is such a link, too. */
function linksOf(name: string, value: unknown, isExtension: boolean): [string, unknown][] {
  if (LINK.test(name) || (isExtension && name === '$ref')) return [['', value]]
  const mapping = name === 'discriminator' && isObject(value) ? value['mapping'] : undefined
  if (!isObject(mapping)) return []
  return Object.entries(mapping).map(([key, link]) => [`/mapping${tokenOf(key)}`, link])
}
