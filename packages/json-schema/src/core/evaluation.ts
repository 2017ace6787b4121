// One evaluation of a value: its position in the value, the annotations that it collects, and the error that it ends with.
import { Memory } from './memory.ts'
import type { Schema } from './schema.ts'
import type { Key, Path, Problem, ValidationError } from './validation-error.ts'

/** The annotations of a schema by which a valid value is changed. */
export interface Content {
  /** Whether the schema has decided on the value: see `untyped.ts`. */
  readonly isDecided: boolean
  /** Whether the value is an int64: it becomes a `bigint`. */
  readonly isInt64: boolean
  /** Whether only the other side sends the value. */
  readonly isMarked: boolean
  /** The defaults of the members of the value. */
  readonly defaults: readonly Default[]
}

export interface Default {
  readonly name: string
  readonly value: unknown
  /** The schema of the member. */
  readonly schema: Schema
}

/** A schema that applies to a value has something to say of it: an annotation (2020-12 core, section 7.7). */
export interface Annotation {
  readonly content: Content
  readonly value: unknown
  /** The object or the list that has the value. */
  readonly container: object
  /** The name or the index of the value in its container. */
  readonly key: Key
  /** The instance location (2020-12 core, section 3) of a marked value, which an error may name. Else it is undefined. */
  readonly path: Path | undefined
}

/** Annotations of one schema at one place. They may be added several times, and count once. */
export class AnnotationGroup {
  readonly annotations: Annotations
  isListed = false

  constructor(annotations: Annotations) {
    this.annotations = annotations
  }
}

/** In the order of evaluation. A group is not flattened here: to copy it at each level would take quadratic time. */
export type Annotations = (Annotation | AnnotationGroup)[]

/**
 * Evaluates a value by a keyword, or by a whole schema.
 * @param evaluated gets the keys of the members and items that have been evaluated, if `unevaluatedProperties` or
 *   `unevaluatedItems` asks for them
 * @returns whether to go on: false if the value is invalid, unless the evaluation collects all annotations
 */
export type Evaluate = (value: unknown, evaluation: Evaluation, evaluated?: Set<string>) => boolean

/** The result of a schema by itself. */
export interface Result {
  /** Its annotations: a group, or the only one. */
  readonly said: Annotations[number] | undefined
  /** Undefined if the value fits. */
  readonly error: ValidationError | undefined
  /** The keys of evaluated members and items, if they were asked for. */
  readonly evaluated: Set<string> | undefined
}

/**
 * The most schemas that are evaluated within each other; one that is tried counts twice. In a new process, whose code is not
 * compiled yet, the stack has room for 1900 of those that take most (`oneOf`).
 */
const MAX_NESTED = 1600
/** The most bytes of memory that an annotation takes, a result, an error or an evaluated key. */
const BYTES_HELD = 128
/** For how many of them no memory is reserved, and by how many a reservation grows. */
const HELD_STEP = 2000

/** Says that an evaluation holds this many bytes of memory in all. It may throw, if that is too much. */
export type Reserve = (bytes: number) => void

interface Options {
  /** Whether evaluation goes on after an error, so that all annotations are collected. */
  readonly isCollectAll?: boolean
  readonly reserve?: Reserve | undefined
}

/** An evaluation of a value. It knows where it is: whoever goes into a member or an item says so. */
export class Evaluation {
  readonly annotations: Annotations = []
  /** The last error. */
  error: ValidationError | undefined
  readonly memory = new Memory<Result>()
  /** How many schemas are being evaluated within each other, see {@link MAX_NESTED}. */
  #nested = 0
  #isCollectAll: boolean
  /** The containers and the keys from the whole value down to the value that is evaluated now. */
  readonly #containers: object[]
  readonly #keys: Key[]
  /** The paths of the first of these keys: each is made when it is needed. */
  readonly #paths: Path[] = []
  readonly #reserve: Reserve | undefined
  /** How many annotations, results, errors and evaluated keys are held, and for how many memory is reserved. */
  #held = 0
  #reserved = HELD_STEP
  /** The texts that equal objects and lists share, also by their contents: see `identity.ts`. */
  #identities: Map<object | string, string> | undefined

  /**
   * Begins an evaluation.
   * @param container of the value
   * @param key of the value in it: its name in messages
   */
  constructor(container: object, key: Key, { isCollectAll = false, reserve }: Options = {}) {
    this.#containers = [container]
    this.#keys = [key]
    this.#isCollectAll = isCollectAll
    this.#reserve = reserve
  }

  /** Counts annotations, results, errors and evaluated keys that are held now. @param count negative for what is dropped */
  hold(count: number): void {
    this.#held += count
    if (this.#held <= this.#reserved) return
    this.#reserved = this.#held + HELD_STEP
    this.#reserve?.(this.#reserved * BYTES_HELD)
  }

  /** Whether evaluation goes on after an error, so that all annotations are collected. */
  get isCollectAll(): boolean {
    return this.#isCollectAll
  }

  /** Begins a schema. {@link end} must follow. @throws {RangeError} for more than {@link MAX_NESTED} within each other */
  begin(): void {
    this.#nested += 1
    if (this.#nested > MAX_NESTED) throw new RangeError('too many schemas within each other')
  }

  end(): void {
    this.#nested -= 1
  }

  /** Goes into a member or an item. {@link leave} must follow. */
  enter(container: object, key: Key): void {
    this.#containers.push(container)
    this.#keys.push(key)
  }

  leave(): void {
    this.#containers.pop()
    this.#keys.pop()
    if (this.#paths.length > this.#keys.length) this.#paths.pop()
  }

  get container(): object {
    return this.#containers.at(-1) ?? {}
  }

  get key(): Key {
    return this.#keys.at(-1) ?? ''
  }

  /** The container of the value has an error, if it is in one. @returns see {@link Evaluate} */
  failContainer(problem: Problem): boolean {
    const path = this.#path()
    return this.adopt({ path: path.above ?? path, problem })
  }

  /** The value has an error. @returns see {@link Evaluate} */
  fail(problem: Problem): boolean {
    return this.adopt({ path: this.#path(), problem })
  }

  /** Takes an error that was found elsewhere. @returns see {@link Evaluate} */
  adopt(error: ValidationError): boolean {
    this.error = error
    return this.#isCollectAll
  }

  annotate(content: Content, value: unknown): void {
    const { container, key } = this
    const path = content.isMarked ? this.#path() : undefined
    this.annotations.push({ content, value, container, key, path })
    this.hold(1)
  }

  /**
   * Tries a schema that the value need not fit. What it says of the value counts only if the value fits.
   * @param evaluated gets the keys of evaluated members and items
   * @returns the error; undefined if the value fits
   */
  try(evaluate: Evaluate, value: unknown, evaluated?: Set<string>): ValidationError | undefined {
    const { length } = this.annotations
    const keys = evaluated && new Set<string>()
    const error = this.#run(evaluate, value, keys, false)
    if (error !== undefined) {
      this.#dropFrom(length)
      this.hold(-(keys?.size ?? 0))
    } else if (evaluated !== undefined) addAll(keys, evaluated)
    return error
  }

  /** Whether the value fits a schema. What the schema says of the value does not count. */
  fits(evaluate: Evaluate, value: unknown): boolean {
    const { length } = this.annotations
    const error = this.#run(evaluate, value, undefined, false)
    this.#dropFrom(length)
    return error === undefined
  }

  /** Tries a schema as {@link try} does. What it says of the value counts only if its result is added: see {@link add}. */
  tryApart(evaluate: Evaluate, value: unknown, evaluated?: Set<string>): Result {
    return this.#resultOf(evaluate, value, evaluated, false)
  }

  /** The result of a schema, with all annotations if this evaluation collects them. */
  evaluateApart(evaluate: Evaluate, value: unknown, evaluated?: Set<string>): Result {
    return this.#resultOf(evaluate, value, evaluated, this.#isCollectAll)
  }

  /** Says that a member or an item is evaluated. @param evaluated the keys, if they are asked for */
  addKey(key: Key, evaluated: Set<string> | undefined): void {
    if (evaluated === undefined) return
    evaluated.add(String(key))
    this.hold(1)
  }

  /** Adds what a schema has said of the value. */
  add({ said, evaluated: keys }: Result, evaluated?: Set<string>): void {
    if (said !== undefined) this.annotations.push(said)
    if (evaluated !== undefined) addAll(keys, evaluated)
  }

  get identities(): Map<object | string, string> {
    return (this.#identities ??= new Map())
  }

  #path(): Path {
    const paths = this.#paths
    let above = paths.at(-1)
    for (let at = paths.length; at < this.#keys.length; at += 1) {
      above = { key: this.#keys[at] ?? '', above, length: at + 1 }
      paths.push(above)
    }
    return above ?? { key: '', above: undefined, length: 1 }
  }

  /** Evaluates a schema, whatever has been an error before. @returns its error */
  #run(
    evaluate: Evaluate,
    value: unknown,
    evaluated: Set<string> | undefined,
    isCollectAll: boolean,
  ): ValidationError | undefined {
    const errorBefore = this.error
    const isCollectAllBefore = this.#isCollectAll
    this.error = undefined
    this.#isCollectAll = isCollectAll
    this.begin()
    evaluate(value, this, evaluated)
    this.end()
    const { error } = this
    this.error = errorBefore
    this.#isCollectAll = isCollectAllBefore
    return error
  }

  #resultOf(
    evaluate: Evaluate,
    value: unknown,
    evaluated: Set<string> | undefined,
    isCollectAll: boolean,
  ): Result {
    const { length } = this.annotations
    const keys = evaluated && new Set<string>()
    const error = this.#run(evaluate, value, keys, isCollectAll)
    const doesNotCount = error !== undefined && !isCollectAll
    if (doesNotCount) this.#dropFrom(length)
    const said = this.#takeFrom(length)
    if (said ?? error ?? keys) return { said, error, evaluated: keys }
    return FITS
  }

  #dropFrom(length: number): void {
    const count = this.annotations.length - length
    if (count === 0) return
    this.annotations.length = length
    this.hold(-count)
  }

  /** Takes the last annotations out. */
  #takeFrom(length: number): Result['said'] {
    const count = this.annotations.length - length
    if (count === 0) return undefined
    if (count === 1) return this.annotations.pop()
    this.hold(1)
    return new AnnotationGroup(this.annotations.splice(length))
  }
}

/** The result of a schema that says nothing else: most results. */
const FITS: Result = { said: undefined, error: undefined, evaluated: undefined }

function addAll(keys: Iterable<string> = [], evaluated: Set<string>): void {
  for (const key of keys) evaluated.add(key)
}
