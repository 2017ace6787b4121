// Collects the diagnostics of a contract, each with the operations that it concerns: errors, which are refused, and warnings,
// which a person reads as notes.
import { visible } from '@plant-store/engine/for-compiler'
import { findPosition, locationOf, type Position, type SourceLocation } from './source-locations.ts'

/** An error or a warning, with its place. */
export interface Diagnostic {
  /** The first place that has it. */
  readonly at: Position
  readonly text: string
  /** How many places have it. */
  readonly count: number
  /** The operations that it concerns, such as `GET /users`; null if it concerns the whole document. */
  readonly operations: readonly string[] | null
}

export interface DiagnosticList {
  /** Sorted by file and line. */
  readonly errors: readonly Diagnostic[]
  /** Warnings with the same text are merged into one. */
  readonly warnings: readonly Diagnostic[]
}

/** Reports an error or a warning of an object in the document, or of a member at a path in it. The text has the advice. */
type Report = (node: object, text: string, ...path: string[]) => void

/** The parts of the main file that concern all operations. */
const CONCERNS_ALL = /^#\/(openapi|swagger|jsonSchemaDialect|servers|security|x-body-limit)$/
/** The parts that only people and clients read. */
const WITHOUT_EFFECT = /^#\/(info|paths\/[^/]+\/[^/]+\/(callbacks|tags|externalDocs))(\/|$)/
/** The texts and examples of the other parts: an error in them changes nothing that is served. */
const FOR_PEOPLE =
  /\/(paths\/[^/]+(\/[^/]+)?\/(summary|description)|responses\/[^/]+\/(description|links)|requestBody\/description|(content|headers|parameters)\/[^/]+\/(description|examples?))(\/|$)/

const isWithoutEffect = (key: string) => WITHOUT_EFFECT.test(key)
const isForPeople = (key: string) => isWithoutEffect(key) || FOR_PEOPLE.test(key)

/** A report about a place. */
interface Reported {
  readonly text: string
  readonly isError: boolean
  readonly location: SourceLocation
  /** Whether it concerns all operations, as a report about the document itself. */
  readonly concernsAll: boolean
  /** Whether it is a warning in a part that no operation uses, too. */
  readonly isTold?: boolean
}

/** The parts of the document that a place belongs to. */
interface Reach {
  /** The operations that the place is a part of; null for all. */
  readonly operations: Diagnostic['operations']
  /** Whether the place is in a part of the document that is served. */
  readonly isUsed: boolean
}

const CONCERNS_EVERYTHING: Reach = { operations: null, isUsed: true }

export class Diagnostics {
  /** By text, then by place: a place that is checked twice is reported once. */
  readonly #reported = new Map<string, Map<string, Reported>>()
  /** By the key of an object: the operations that it describes. An object may be an operation, or a path with all its operations. */
  readonly #described = new Map<string, string[]>()
  /** By the key of an object: the keys of the references to it. */
  readonly #references = new Map<string, string[]>()

  readonly error: Report = (node, text, ...path) => this.add(locationOf(node, path), text, true)
  readonly warn: Report = (node, text, ...path) => this.add(locationOf(node, path), text, false)

  /** Whether parts of other files were moved into the main file. */
  isBundle = false

  /** @param isMisspelt whether another name was perhaps meant: at the top of the document all operations could need it */
  add(location: SourceLocation, text: string, isError: boolean, isMisspelt = false): void {
    const key = keyOf(location)
    const isOfOtherFile = !location.file.isMain // its operations are not known
    const isMisspeltAtTop = isMisspelt && /^#\/[^/]+$/.test(key)
    const concernsAll = key === '#' || isOfOtherFile || isMisspeltAtTop
    const ofText = this.#reported.get(text) ?? new Map<string, Reported>()
    this.#reported.set(text, ofText.set(key, { text, isError, location, concernsAll }))
  }

  /** Reports a warning, which is not left out in a part that no operation uses. */
  tell(location: SourceLocation, text: string): void {
    const ofText = this.#reported.get(text) ?? new Map<string, Reported>()
    const told = { text, isError: false, location, concernsAll: false, isTold: true }
    this.#reported.set(text, ofText.set(keyOf(location), told))
  }

  /** Says that objects describe an operation. A report about them, or about a target of theirs, concerns it. */
  describe(operation: string, nodes: readonly object[]): void {
    for (const node of nodes) push(this.#described, keyOf(locationOf(node)), operation)
  }

  /** Says that a reference, or an alias of YAML, leads to an object. */
  refer(location: SourceLocation, target: object): void {
    push(this.#references, keyOf(locationOf(target)), keyOf(location))
  }

  /** All diagnostics. In a part that no operation uses, an error becomes a warning, and a warning is left out. */
  list(): DiagnosticList {
    const errors: Diagnostic[] = []
    const warnings = new Map<string, Diagnostic>()
    for (const reported of this.#reported.values().flatMap((ofText) => ofText.values())) {
      const isIgnored = reported.isError ? isForPeople : isWithoutEffect
      const { operations, isUsed } = this.#reachOf(reported, isIgnored)
      const diagnostic = this.#toDiagnostic(reported, operations)
      if (reported.isError && isUsed) errors.push(diagnostic)
      else if (reported.isError || reported.isTold === true || isUsed)
        addWarning(warnings, diagnostic)
    }
    errors.sort(byPosition)
    return { errors, warnings: [...warnings.values()] }
  }

  /** Whether an error of an operation has been reported, or an error that concerns all operations. */
  hasErrorOf(operation: string): boolean {
    const concerns = ({ operations }: Diagnostic) => operations?.includes(operation) !== false
    return this.list().errors.some(concerns)
  }

  #toDiagnostic({ location, text }: Reported, operations: Diagnostic['operations']): Diagnostic {
    const isInBundle = this.isBundle && location.file.isMain
    return { at: findPosition(location, isInBundle), text, count: 1, operations }
  }

  /**
   * Finds the operations that a place is a part of. It climbs from the place to the objects around it, and to the references that
   * lead there, until it is at an object that describes operations.
   */
  #reachOf({ location, concernsAll }: Reported, isIgnored: (key: string) => boolean): Reach {
    if (concernsAll) return CONCERNS_EVERYTHING
    const operations = new Set<string>()
    let isServed = false
    // The loop goes on with the keys that it adds.
    const keys = new Set([keyOf(location)])
    for (const key of keys) {
      if (CONCERNS_ALL.test(key)) return CONCERNS_EVERYTHING
      if (isIgnored(key)) continue
      if (key.startsWith('#/paths')) isServed = true
      for (const operation of this.#described.get(key) ?? []) operations.add(operation)
      for (const above of this.#keysAbove(key)) keys.add(above)
    }
    return { operations: [...operations], isUsed: isServed || operations.size > 0 }
  }

  /** The references that lead to an object, and the object around it, unless it describes operations itself. */
  #keysAbove(key: string): string[] {
    const keys = [...(this.#references.get(key) ?? [])]
    const container = this.#described.has(key) ? undefined : containerOf(key)
    if (container !== undefined) keys.push(container)
    return keys
  }
}

/** The key of the object around another one; undefined for a whole file. */
function containerOf(key: string): string | undefined {
  const isInFile = /#./.test(key)
  return isInFile ? key.slice(0, key.lastIndexOf('/')) : undefined
}

/** A text that tells the places of a contract apart. It is a JSON pointer in the main file. */
function keyOf({ file, pointer }: SourceLocation): string {
  return file.isMain ? pointer : file.source.absoluteRef + pointer
}

/** Merges a warning with the warnings of the same text. */
function addWarning(warnings: Map<string, Diagnostic>, warning: Diagnostic): void {
  const first = warnings.get(warning.text)
  if (first === undefined) {
    warnings.set(warning.text, warning)
    return
  }
  const operations = union(first.operations, warning.operations)
  warnings.set(warning.text, { ...first, count: first.count + 1, operations })
}

function union(
  left: Diagnostic['operations'],
  right: Diagnostic['operations'],
): Diagnostic['operations'] {
  if (left === null || right === null) return null
  return [...new Set([...left, ...right])]
}

function byPosition(left: Diagnostic, right: Diagnostic): number {
  return left.at.file.localeCompare(right.at.file) || left.at.line - right.at.line
}

function push(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}

/** The most lines for diagnostics of the same text. */
const MAX_PLACES = 3

/** Diagnostics as lines. Of many with the same text, only the first have lines. One more line says how many are left. */
export function toLines(diagnostics: readonly Diagnostic[]): string[] {
  const lines: string[] = []
  const counts = new Map<string, number>()
  for (const diagnostic of diagnostics) {
    const count = (counts.get(diagnostic.text) ?? 0) + 1
    counts.set(diagnostic.text, count)
    if (count <= MAX_PLACES) lines.push(toLine(diagnostic))
  }
  for (const [text, count] of counts)
    if (count > MAX_PLACES) lines.push(visible(`and ${count - MAX_PLACES} more: ${text}`))
  return lines
}

/** A diagnostic as one line: no text of the document begins another. */
export function toLine({ at: { file, line, pointer }, text, count }: Diagnostic): string {
  const times = count > 1 ? ` (${count} times)` : ''
  return visible(`${file}${pointer ?? `:${line}`}: ${text}${times}`)
}
