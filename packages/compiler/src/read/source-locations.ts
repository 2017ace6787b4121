// Remembers the file and the pointer of each object of a contract, and finds its line.
import { relative } from 'node:path'
import type { Document } from '@redocly/openapi-core'
import {
  type Document as YamlDocument,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type LineCounter,
} from 'yaml'

/** A file of the contract. Referenced parts of other files are moved into the main one: see document.ts. */
export interface File extends Document {
  readonly isMain: boolean
  readonly yaml: YamlDocument
  readonly lines: LineCounter
}

/** A place in a file: an object, or one of its properties. */
export interface SourceLocation {
  readonly file: File
  /** A JSON pointer, with `#` before it. */
  readonly pointer: string
}

/** The first place of each object of a file. */
export type Places = ReadonlyMap<object, SourceLocation>

/** An alias of YAML, and the first place of its object. */
interface Alias {
  readonly location: SourceLocation
  readonly target: SourceLocation
}

export function findPlaces(file: File): { readonly places: Places; readonly aliases: Alias[] } {
  const places = new Map<object, SourceLocation>()
  const aliases: Alias[] = []
  const find = (node: unknown, pointer: string): void => {
    if (typeof node !== 'object' || node === null) return
    const location = { file, pointer }
    const first = places.get(node)
    if (first !== undefined) {
      aliases.push({ location, target: first })
      return
    }
    places.set(node, location)
    for (const [key, child] of Object.entries(node)) find(child, pointer + tokenOf(key))
  }
  find(file.parsed, '#')
  return { places, aliases }
}

/** The locations of all objects of a document in its final form. */
const LOCATIONS = new WeakMap<object, SourceLocation>()

export function storeLocations(places: Places): void {
  for (const [node, location] of places) LOCATIONS.set(node, location)
}

/** The location of an object. @param path leads to a property in it @throws {Error} if the object is not of the document */
export function locationOf(node: object, path: readonly string[] = []): SourceLocation {
  const location = LOCATIONS.get(node)
  if (location === undefined) throw new Error('this object is not of the document')
  return { file: location.file, pointer: location.pointer + path.map(tokenOf).join('') }
}

export const findLocation = (node: object) => LOCATIONS.get(node)

/** A reference token of a JSON pointer (RFC 6901, section 3). */
export const tokenOf = (key: string) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`

/** The name in a reference token. */
export const nameOf = (token: string) => token.replaceAll('~1', '/').replaceAll('~0', '~')

/** A place for people: a line, counted from 1, or a pointer for a part moved from another file. */
export interface Position {
  /** Relative to the working folder. */
  readonly file: string
  readonly line: number
  readonly pointer?: string
}

/** Finds the line of a place. @param isBundle whether the file has parts of other files, without a line in it */
export function findPosition(location: SourceLocation, isBundle: boolean): Position {
  const { file, pointer } = location
  const { source, yaml, lines } = file
  let node: unknown = yaml.contents
  let offset = 0
  let isMoved = false
  for (const token of pointer.split('/').slice(1)) {
    const { start, value } = findChild(node, nameOf(token))
    isMoved = isBundle && start === undefined
    if (!isNode(start) || !start.range) break // behind an alias, the line of the alias is near enough
    offset = start.range[0]
    node = isAlias(value) ? value.resolve(yaml) : value
  }
  const position = { file: relative('', source.absoluteRef), line: lines.linePos(offset).line }
  return isMoved ? { ...position, pointer } : position
}

/** A property or an item in YAML: its first node, and its value. Both are undefined if it is missing. */
function findChild(node: unknown, name: string): { start: unknown; value: unknown } {
  if (isSeq(node)) {
    const item: unknown = node.items[Number(name)]
    return { start: item, value: item }
  }
  const pairs = isMap(node) ? node.items : []
  const pair = pairs.find(({ key }) => isScalar(key) && String(key.value) === name)
  return { start: pair?.key, value: pair?.value }
}
