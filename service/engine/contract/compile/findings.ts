// Collects what is wrong with a contract, and what is served with an annotation, each with its operations.
import type { Operation } from '../compiled.ts'
import { reasonOf } from '../../errors.ts'
import { type Report, findPlace, holdersOf, pointerTo } from './references.ts'

/** A fault, or a note: something that is served, and that its author should know. */
export interface Finding {
  /** The place of the first one of its kind: a path relative to the working folder, and a line from 1. */
  readonly file: string
  readonly line: number
  readonly text: string
  /** How many places have it. */
  readonly count: number
  /** The operations that it concerns, such as `GET /users`; null if it concerns the whole document. */
  readonly operations: readonly string[] | null
}

/** A reported place, and the operations that were compiled then. */
interface Place {
  readonly node: object
  readonly key: string | undefined
  readonly during: Set<string>
}

/** An operation, and its name, such as `GET /users`. */
interface Listed {
  readonly key: string
  readonly operation: object
}

export class Findings {
  /** All operations of the document. */
  readonly operations: string[] = []
  /** Those that could be compiled. */
  readonly compiled = new Map<string, Operation>()
  readonly #faults = new Map<string, Map<string, Place>>()
  readonly #notes = new Map<string, Map<string, Place>>()
  /** The operations that an object describes: an operation, or a path with all its operations. */
  readonly #described = new Map<object, Set<string>>()
  #current: string | undefined
  /** The operations that can't be read, with the reason. */
  readonly #failed = new Map<Listed, string>()

  readonly refuse: Report = (node, text, key) => this.#add(this.#faults, node, text, key)
  readonly note: Report = (node, text, key) => this.#add(this.#notes, node, text, key)

  /** Says that objects describe an operation. What is found in them, or behind a reference from them, concerns it. */
  describe(operation: string, nodes: readonly object[]): void {
    this.operations.push(operation)
    for (const node of nodes) this.#described.set(node, (this.#described.get(node) ?? new Set()).add(operation))
  }

  /** Runs a task for an operation. What it reports concerns the operation, wherever it stands. @returns undefined if it failed */
  during<Value>(operation: Listed, task: () => Value): Value | undefined {
    this.#current = operation.key
    try {
      return task()
    } catch (error) {
      this.#failed.set(operation, reasonOf(error))
      return undefined
    } finally {
      this.#current = undefined
    }
  }

  /** Each fault by its place. */
  faults(): Finding[] {
    const all = () =>
      [...this.#faults].flatMap(([text, places]) => [...places.values()].map((each) => this.#join(text, [each])))
    const known = all()
    for (const [{ key, operation }, reason] of this.#failed) {
      // What the linter says of the same structure helps more.
      if (known.some(({ operations }) => operations?.includes(key) !== false)) continue
      this.refuse(operation, `this operation can't be compiled: ${reason}`)
    }
    return this.#failed.size === 0 ? known : all()
  }

  /** The notes, those of one text together. */
  notes(): Finding[] {
    return [...this.#notes].map(([text, places]) => this.#join(text, [...places.values()]))
  }

  #add(all: Map<string, Map<string, Place>>, node: object, text: string, key?: string): void {
    const places = all.get(text) ?? new Map<string, Place>()
    const pointer = pointerTo(node, key)
    const place = places.get(pointer) ?? { node, key, during: new Set() }
    if (this.#current !== undefined) place.during.add(this.#current)
    all.set(text, places.set(pointer, place))
  }

  #join(text: string, places: readonly Place[]): Finding {
    const operations = new Set<string>()
    let isWhole = false
    for (const { node, during } of places) {
      for (const each of during) operations.add(each)
      isWhole = (this.#reach(node, operations) && during.size === 0) || isWhole
    }
    const [first] = places as [Place]
    return {
      ...findPlace(first.node, first.key),
      text,
      count: places.length,
      operations: isWhole ? null : [...operations],
    }
  }

  /** Adds the operations that an object is a part of. @returns whether it concerns the whole document */
  #reach(node: object, operations: Set<string>): boolean {
    const all = new Set([node])
    let isWhole = false
    for (const each of all) {
      const described = this.#described.get(each) ?? []
      for (const operation of described) operations.add(operation)
      const { references, holder } = holdersOf(each)
      for (const reference of references) all.add(reference)
      if (!this.#described.has(each) && holder) all.add(holder)
      isWhole ||= holder === null
    }
    return isWhole
  }
}

/** A finding as one line. */
export function describe({ file, line, text, count }: Finding): string {
  return `${file}:${line}: ${text}${count > 1 ? ` (${count} times)` : ''}`
}
