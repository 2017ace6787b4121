// Collects the diagnostics of a contract, errors and warnings, each with its operations.
import { type AnyFinding, type Finding, identityOf } from '../sentences/sentences.ts'
import { findPosition, locationOf, type Position, type SourceLocation } from './source-locations.ts'

export interface Diagnostic {
  /** Its first place. */
  readonly at: Position
  readonly finding: AnyFinding
  readonly count: number
  /** The affected operations, such as `GET /users`; null for the whole document. */
  readonly operations: readonly string[] | null
}

export interface DiagnosticList {
  /** Sorted by file and line. */
  readonly errors: readonly Diagnostic[]
  /** Equal warnings, of the same code and values, are merged into one. */
  readonly warnings: readonly Diagnostic[]
}

/** Reports a finding about an object of the document, or about a path in it. */
type Report = (node: object, finding: Finding, ...path: string[]) => void

/** Parts of the main file with an effect on all operations. */
const CONCERNS_ALL = /^#\/(openapi|swagger|jsonSchemaDialect|servers|security|x-body-limit)$/
/** Parts for people and clients only. */
const WITHOUT_EFFECT = /^#\/(info|paths\/[^/]+\/[^/]+\/(callbacks|tags|externalDocs))(\/|$)/
/** Descriptions and examples in other parts: an error in them has no effect on the service. */
const FOR_PEOPLE =
  /\/(paths\/[^/]+(\/[^/]+)?\/(summary|description)|responses\/[^/]+\/(description|links)|requestBody\/description|(content|headers|parameters)\/[^/]+\/(description|examples?))(\/|$)/

const isWithoutEffect = (key: string) => WITHOUT_EFFECT.test(key)
const isForPeople = (key: string) => isWithoutEffect(key) || FOR_PEOPLE.test(key)

interface Reported {
  readonly finding: AnyFinding
  readonly isError: boolean
  readonly location: SourceLocation
  /** Whether it affects all operations, as a report about the document itself. */
  readonly concernsAll: boolean
  /** Whether it stays a warning even in an unused part. */
  readonly isTold?: boolean
}

/** The effect of a place on the service. */
interface Reach {
  /** The operations with the place; null for all. */
  readonly operations: Diagnostic['operations']
  /** Whether the place is in a served part of the document. */
  readonly isUsed: boolean
}

const CONCERNS_EVERYTHING: Reach = { operations: null, isUsed: true }

export class Diagnostics {
  /** By the identity of the finding, then by place, so that a place checked twice is reported once. */
  readonly #reported = new Map<string, Map<string, Reported>>()
  /** By the key of an operation or a path: its operations. */
  readonly #described = new Map<string, string[]>()
  /** By the key of an object: the keys of the references to it. */
  readonly #references = new Map<string, string[]>()

  readonly error: Report = (node, finding, ...path) =>
    this.add(locationOf(node, path), finding, true)
  readonly warn: Report = (node, finding, ...path) =>
    this.add(locationOf(node, path), finding, false)

  /** Whether the main file has parts moved from other files. */
  isBundle = false

  /** @param isMisspelt whether another name was perhaps meant; at the top of the document this affects all operations */
  add(location: SourceLocation, finding: AnyFinding, isError: boolean, isMisspelt = false): void {
    const key = keyOf(location)
    const isOfOtherFile = !location.file.isMain // its operations are unknown
    const isMisspeltAtTop = isMisspelt && /^#\/[^/]+$/.test(key)
    const concernsAll = key === '#' || isOfOtherFile || isMisspeltAtTop
    this.#keep({ finding, isError, location, concernsAll })
  }

  /** Reports a warning, even about an unused part. */
  tell(location: SourceLocation, finding: Finding): void {
    this.#keep({ finding, isError: false, location, concernsAll: false, isTold: true })
  }

  #keep(reported: Reported): void {
    const identity = identityOf(reported.finding)
    const equal = this.#reported.get(identity) ?? new Map<string, Reported>()
    this.#reported.set(identity, equal.set(keyOf(reported.location), reported))
  }

  /** Assigns objects to an operation: it is affected by reports about them, and about the targets of their references. */
  describe(operation: string, nodes: readonly object[]): void {
    for (const node of nodes) push(this.#described, keyOf(locationOf(node)), operation)
  }

  /** Records the target of a reference, or of an alias of YAML. */
  refer(location: SourceLocation, target: SourceLocation): void {
    push(this.#references, keyOf(target), keyOf(location))
  }

  /** All diagnostics. In an unused part, an error becomes a warning, and a warning is left out. */
  list(): DiagnosticList {
    const errors: Diagnostic[] = []
    const warnings = new Map<string, Diagnostic>()
    for (const reported of this.#reported.values().flatMap((equal) => equal.values())) {
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

  /** Whether an error of an operation, or of all operations, was reported. */
  hasErrorOf(operation: string): boolean {
    const concerns = ({ operations }: Diagnostic) => operations?.includes(operation) !== false
    return this.list().errors.some(concerns)
  }

  #toDiagnostic({ location, finding }: Reported, operations: Diagnostic['operations']): Diagnostic {
    const isInBundle = this.isBundle && location.file.isMain
    return { at: findPosition(location, isInBundle), finding, count: 1, operations }
  }

  /** Finds the operations with a place: climbs to the objects around it, and to references to these, up to operations. */
  #reachOf({ location, concernsAll }: Reported, isIgnored: (key: string) => boolean): Reach {
    if (concernsAll) return CONCERNS_EVERYTHING
    const operations = new Set<string>()
    let isServed = false
    // The loop also visits the keys it adds.
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

  /** The references to an object, and the object around it unless it is an operation or a path. */
  #keysAbove(key: string): string[] {
    const keys = [...(this.#references.get(key) ?? [])]
    const container = this.#described.has(key) ? undefined : containerOf(key)
    if (container !== undefined) keys.push(container)
    return keys
  }
}

function containerOf(key: string): string | undefined {
  const isInFile = /#./.test(key)
  return isInFile ? key.slice(0, key.lastIndexOf('/')) : undefined
}

/** Identifies a place of a contract. In the main file, this is its JSON pointer. */
function keyOf({ file, pointer }: SourceLocation): string {
  return file.isMain ? pointer : file.source.absoluteRef + pointer
}

function addWarning(warnings: Map<string, Diagnostic>, warning: Diagnostic): void {
  const identity = identityOf(warning.finding)
  const first = warnings.get(identity)
  if (first === undefined) {
    warnings.set(identity, warning)
    return
  }
  const operations = unionOf([first.operations, warning.operations])
  warnings.set(identity, { ...first, count: first.count + 1, operations })
}

/** The operations of several diagnostics; null if one of them is about the whole document. */
export function unionOf(lists: readonly Diagnostic['operations'][]): Diagnostic['operations'] {
  const limited = lists.filter((operations) => operations !== null)
  return limited.length < lists.length ? null : [...new Set(limited.flat())]
}

function byPosition(left: Diagnostic, right: Diagnostic): number {
  return left.at.file.localeCompare(right.at.file) || left.at.line - right.at.line
}

function push(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}
