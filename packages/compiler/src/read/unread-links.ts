// Finds the links of a file that the compiler does not follow, and that lead to a URL or to a file out of reach. They are
// served as they are written. The references that it follows are reported by the bundler.
import { isObject } from '@plant-store/json-schema'
import { type Kind, isValue, kindOf } from './no-op-fields.ts'
import { type File, type SourceLocation, tokenOf } from './source-locations.ts'

/** A link that is not followed, with its place and the warning. */
export interface UnreadLink extends SourceLocation {
  readonly text: string
}

const NOT_FOLLOWED = 'this link is served as it is written: nothing is read from it'

/** The fields with a link that people and clients follow. */
const LINK = /^(externalValue|operationRef)$/

/** @param isOutOfReach whether a reference leads to a URL, or to a file that is never read */
export function findUnreadLinks(file: File, isOutOfReach: (ref: string) => boolean): UnreadLink[] {
  const links: UnreadLink[] = []
  const visited = new Set<unknown>()
  const find = (value: unknown, pointer: string): void => {
    if (typeof value !== 'string' || !isOutOfReach(value)) return
    links.push({ file, pointer, text: NOT_FOLLOWED })
  }
  const visit = (node: unknown, pointer: string, kind: Kind, isExtension: boolean): void => {
    if (typeof node !== 'object' || node === null || visited.has(node)) return
    visited.add(node)
    for (const [name, child] of Object.entries(node)) {
      const place = pointer + tokenOf(name)
      for (const [path, link] of linksOf(name, child, isExtension)) find(link, place + path)
      const isInExtension = isExtension || name.startsWith('x-')
      if (!isInExtension && isLiteral(name, kind)) continue
      const kindOfChild = Array.isArray(node) ? kind : kindOf(name, child, kind)
      visit(child, place, kindOfChild, isInExtension)
    }
  }
  visit(file.parsed, '#', 'fields', false)
  return links
}

/** Whether a member is a value of the API. Outside of a schema, `examples` are objects by name, which may have links. */
function isLiteral(name: string, kind: Kind): boolean {
  const isByName = name === 'examples' && kind === 'fields'
  return isValue(name, kind) && !isByName
}

/** The links of a member, each with its path in it. In an extension, nobody follows a `$ref`. */
function linksOf(name: string, value: unknown, isExtension: boolean): [string, unknown][] {
  if (LINK.test(name) || (isExtension && name === '$ref')) return [['', value]]
  const mapping = name === 'discriminator' && isObject(value) ? value['mapping'] : undefined
  if (!isObject(mapping)) return []
  return Object.entries(mapping).map(([key, link]) => [`/mapping${tokenOf(key)}`, link])
}
