// One evaluation of a value: the current place in the value, the collected annotations, and the error.
import { Memory } from './memory.ts'
import type { Schema } from './schema.ts'
import type { Key, Path, Problem, ValidationError } from './validation-error.ts'

/** The annotations of one schema: they change a valid value. */
export interface AnnotationContent {
  /** The schema has decided on the value: see `untyped.ts`. */
  readonly isDecided: boolean
  /** An int64 becomes a `bigint`. */
  readonly isInt64: boolean
  /** Only the other side sends the value. */
  readonly isMarked: boolean
  /** The defaults of the value's properties. */
  readonly defaults: readonly Default[]
}

export interface Default {
  readonly name: string
  readonly value: unknown
  /** The schema of the property. */
  readonly schema: Schema
}

/** An annotation of a value by a schema (2020-12 core, section 7.7). */
export interface Annotation {
  readonly content: AnnotationContent
  readonly value: unknown
  /** The object or list around the value. */
  readonly container: object
  /** The name or the index of the value in its container. */
  readonly key: Key
  /** The instance location (2020-12 core, section 3) of a marked value, for its error; undefined for others. */
  readonly path: Path | undefined
}

/** Annotations of one schema at one place. They may be added several times, but count once. */
export class AnnotationGroup {
  readonly annotations: Annotations
  isListed = false

  constructor(annotations: Annotations) {
    this.annotations = annotations
  }
}

/** Annotations in order. A nested group holds those of one branch: flattening it here would take quadratic time. */
export type Annotations = (Annotation | AnnotationGroup)[]

/**
 * Evaluates a value by a keyword, or by a whole schema.
 * @param evaluated gets the keys of evaluated properties and items, if an `unevaluated…` keyword needs them
 * @returns whether to go on: false for an invalid value, unless the evaluation collects all annotations
 */
export type Evaluate = (value: unknown, evaluation: Evaluation, evaluated?: Set<string>) => boolean

/** The result of one schema. */
export interface Result {
  /** A group, or the only annotation. */
  readonly annotations: Annotations[number] | undefined
  /** Undefined if the value fits. */
  readonly error: ValidationError | undefined
  /** The keys of evaluated properties and items, if they are needed. */
  readonly evaluated: Set<string> | undefined
}

/**
 * The most schemas evaluated within each other. A tried one counts twice. `oneOf` takes most of the stack, which has room
 * for 1900 of it in a new process, whose code is not compiled yet.
 */
const MAX_NESTED = 1600
/** The most bytes of an annotation, a result, an error or an evaluated key. */
const BYTES_HELD = 128
/** So many of them need no reservation; a reservation grows by as many. */
const HELD_STEP = 2000

/** Reserves memory. @param bytes held by the evaluation in all @throws to end the evaluation */
export type Reserve = (bytes: number) => void

interface Options {
  /** Whether to go on after an error, in order to collect all annotations. */
  readonly isCollectAll?: boolean
  readonly reserve?: Reserve | undefined
}

/** An evaluation of a value. Whoever goes into a property or an item calls {@link Evaluation.enter}. */
export class Evaluation {
  readonly annotations: Annotations = []
  /** The last error. */
  error: ValidationError | undefined
  readonly memory = new Memory<Result>()
  /** The number of schemas being evaluated within each other, see {@link MAX_NESTED}. */
  #nested = 0
  #isCollectAll: boolean
  /** The containers and the keys from the whole value down to the current one. */
  readonly #containers: object[]
  readonly #keys: Key[]
  /** The paths of the first keys: each is made when needed. */
  readonly #paths: Path[] = []
  readonly #reserve: Reserve | undefined
  /** Annotations, results, errors and evaluated keys: held now, and covered by the reservation. */
  #held = 0
  #reserved = HELD_STEP
  /** The identities of objects and lists, by value and by contents: see `identity.ts`. */
  #identities: Map<object | string, string> | undefined

  /**
   * Begins an evaluation.
   * @param container of the value
   * @param key of the value in its container: its name in errors
   */
  constructor(container: object, key: Key, { isCollectAll = false, reserve }: Options = {}) {
    this.#containers = [container]
    this.#keys = [key]
    this.#isCollectAll = isCollectAll
    this.#reserve = reserve
  }

  /** Counts annotations, results, errors and evaluated keys. @param count negative for dropped ones */
  hold(count: number): void {
    this.#held += count
    if (this.#held <= this.#reserved) return
    this.#reserved = this.#held + HELD_STEP
    this.#reserve?.(this.#reserved * BYTES_HELD)
  }

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

  /** Goes into a property or an item. {@link leave} must follow. */
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

  /** Gives the container an error, or the value if it has none. @returns see {@link Evaluate} */
  failContainer(problem: Problem): boolean {
    const path = this.#path()
    return this.adopt({ path: path.above ?? path, problem })
  }

  /** Gives the value an error. @returns see {@link Evaluate} */
  fail(problem: Problem): boolean {
    return this.adopt({ path: this.#path(), problem })
  }

  /** Takes over the error of a branch. @returns see {@link Evaluate} */
  adopt(error: ValidationError): boolean {
    this.error = error
    return this.#isCollectAll
  }

  annotate(content: AnnotationContent, value: unknown): void {
    const { container, key } = this
    const path = content.isMarked ? this.#path() : undefined
    this.annotations.push({ content, value, container, key, path })
    this.hold(1)
  }

  /**
   * Tries a schema: its annotations count only if the value fits.
   * @param evaluated gets the keys of evaluated properties and items
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

  /** Whether the value fits a schema. Its annotations are dropped. */
  fits(evaluate: Evaluate, value: unknown): boolean {
    const { length } = this.annotations
    const error = this.#run(evaluate, value, undefined, false)
    this.#dropFrom(length)
    return error === undefined
  }

  /** Tries a schema as {@link try} does. Its annotations count only once its result is added: see {@link add}. */
  tryApart(evaluate: Evaluate, value: unknown, evaluated?: Set<string>): Result {
    return this.#resultOf(evaluate, value, evaluated, false)
  }

  /** The result of a schema, with all annotations if this evaluation collects them. */
  evaluateApart(evaluate: Evaluate, value: unknown, evaluated?: Set<string>): Result {
    return this.#resultOf(evaluate, value, evaluated, this.#isCollectAll)
  }

  /** Notes an evaluated property or item. @param evaluated the keys, if they are needed */
  addKey(key: Key, evaluated: Set<string> | undefined): void {
    if (evaluated === undefined) return
    evaluated.add(String(key))
    this.hold(1)
  }

  /** Adds the annotations and the evaluated keys of a result. */
  add({ annotations, evaluated: keys }: Result, evaluated?: Set<string>): void {
    if (annotations !== undefined) this.annotations.push(annotations)
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

  /** Evaluates a schema, whatever the error so far. @returns its error */
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
    const annotations = this.#takeFrom(length)
    if (annotations ?? error ?? keys) return { annotations, error, evaluated: keys }
    return FITS
  }

  #dropFrom(length: number): void {
    const count = this.annotations.length - length
    if (count === 0) return
    this.annotations.length = length
    this.hold(-count)
  }

  /** Takes the last annotations out. */
  #takeFrom(length: number): Result['annotations'] {
    const count = this.annotations.length - length
    if (count === 0) return undefined
    if (count === 1) return this.annotations.pop()
    this.hold(1)
    return new AnnotationGroup(this.annotations.splice(length))
  }
}

/** Most results: the value fits, without annotations. */
const FITS: Result = { annotations: undefined, error: undefined, evaluated: undefined }

function addAll(keys: Iterable<string> = [], evaluated: Set<string>): void {
  for (const key of keys) evaluated.add(key)
}
