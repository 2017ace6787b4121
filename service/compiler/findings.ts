// Collects what is wrong with a contract, and what is served with a note, each with its operations.
import { findPosition, type Place, placeOf, type Position } from './references.ts'

/** A fault, or a note: something that is served, and that its author should know. */
export interface Finding {
  /** The first place that has it. */
  readonly at: Position
  readonly text: string
  /** How many places have it. */
  readonly count: number
  /** The operations that it concerns, such as `GET /users`; null if it concerns the whole document. */
  readonly operations: readonly string[] | null
}

/** Reports something about an object in the document, or about what is at a path in it. The text says what to write instead. */
type Report = (node: object, text: string, ...path: string[]) => void

/** The parts of the main file that concern all operations. */
const WHOLE = /^#\/(openapi|swagger|info|jsonSchemaDialect|servers|security|x-body-limit)$/
/** The parts that only people and clients read. */
const WITHOUT_EFFECT = /^#\/(info\/|paths\/[^/]+\/[^/]+\/(callbacks|tags|externalDocs)(\/|$))/

/** A place that was reported. */
interface Reported {
  readonly text: string
  readonly isFault: boolean
  readonly place: Place
  /** Whether it concerns all operations, as what is reported of the document itself. */
  readonly isWhole: boolean
}

export class Findings {
  readonly #reported = new Map<string, Reported>()
  /** The operations that an object describes: an operation, or a path with all its operations. */
  readonly #described = new Map<string, string[]>()
  /** The references to an object. */
  readonly #references = new Map<string, string[]>()

  readonly refuse: Report = (node, text, ...path) => this.add(placeOf(node, path), text, true)
  readonly note: Report = (node, text, ...path) => this.add(placeOf(node, path), text, false)

  /** Whether the main file has parts of others. */
  isBundle = false

  add(place: Place, text: string, isFault: boolean, isMisspelt = false): void {
    const key = keyOf(place)
    // The operations that another file concerns are not known.
    const isWhole = key === '#' || !place.file.isMain || (isMisspelt && /^#\/[^/]+$/.test(key))
    this.#reported.set(`${text} ${key}`, { text, isFault, place, isWhole })
  }

  /** Says that objects describe an operation. What is found in them, or behind their references, concerns it. */
  describe(operation: string, nodes: readonly object[]): void {
    for (const node of nodes) push(this.#described, node, operation)
  }

  /** Says that a reference, or an alias of YAML, leads to an object. */
  refer(place: Place, target: object): void {
    push(this.#references, target, keyOf(place))
  }

  /** All faults by file and line, and the notes: those with the same text are one. A fault of what no operation uses is a note. */
  list(): { faults: readonly Finding[]; notes: readonly Finding[] } {
    const faults: Finding[] = []
    const notes = new Map<string, Finding>()
    for (const each of this.#reported.values()) {
      const { text, isFault, place } = each
      const { operations, isUsed } = this.#reach(each)
      const at = findPosition(place, this.isBundle && place.file.isMain)
      const found = { at, text, count: 1, operations }
      const known = notes.get(text)
      if (isFault && isUsed) faults.push(found)
      else if (known)
        notes.set(text, {
          ...known,
          count: known.count + 1,
          operations: union(known.operations, operations),
        })
      else if (isFault || isUsed) notes.set(text, found)
    }
    faults.sort(({ at: a }, { at: b }) => a.file.localeCompare(b.file) || a.line - b.line)
    return { faults, notes: [...notes.values()] }
  }

  /** The operations that a place is a part of, and whether it is in what is served. */
  #reach({ place, isWhole }: Reported): { operations: Finding['operations']; isUsed: boolean } {
    const operations = new Set<string>()
    const all = new Set([keyOf(place)])
    let isUsed = false
    for (const each of all) {
      if (isWhole || WHOLE.test(each)) return { operations: null, isUsed: true }
      if (WITHOUT_EFFECT.test(each)) continue
      isUsed ||= each.startsWith('#/paths')
      const described = this.#described.get(each)
      for (const operation of described ?? []) operations.add(operation)
      for (const reference of this.#references.get(each) ?? []) all.add(reference)
      if (!described && /#./.test(each)) all.add(each.slice(0, each.lastIndexOf('/')))
    }
    return { operations: [...operations], isUsed: isUsed || operations.size > 0 }
  }
}

/** A text that tells the places of a contract apart. It is a JSON pointer in the main file. */
const keyOf = ({ file, pointer }: Place) => (file.isMain ? '' : file.source.absoluteRef) + pointer

function union(some: Finding['operations'], others: Finding['operations']): Finding['operations'] {
  return some && others && [...new Set([...some, ...others])]
}

function push(all: Map<string, string[]>, node: object, value: string): void {
  const key = keyOf(placeOf(node))
  const known = all.get(key)
  if (known) known.push(value)
  else all.set(key, [value])
}

/** A finding as one line. */
export function toLine({ at: { file, line, pointer }, text, count }: Finding): string {
  return `${file}${pointer ?? `:${line}`}: ${text}${count > 1 ? ` (${count} times)` : ''}`
}
