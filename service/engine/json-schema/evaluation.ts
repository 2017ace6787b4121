// One evaluation of a value: its position in the value, the annotations that it collects, and the error that it ends with.
import type { Schema } from './schema.ts'

/** The name of a member, or the index of an item. */
export type Key = string | number

/** An error of a value. */
export interface ValidationError {
  /** The keys that lead to the value: its instance location. The first one is the name of the whole value. */
  readonly path: readonly Key[]
  readonly text: string
  /** Whether it is an error of `enum` or `const`, which often only tell alternatives apart. */
  readonly isTag: boolean
}

/** The annotations of a schema by which a valid value is changed. */
export interface Content {
  /** Whether the value was sent as a text, and is the result of reading the text. */
  readonly isRead: boolean
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
  /** The instance location (2020-12 core, section 3) of a marked value, which an error may name. Else it is empty. */
  readonly path: readonly Key[]
}

/** In the order of evaluation. A list in it is of a branch: to copy it would take too long. */
export type Annotations = (Annotation | Annotations)[]

/**
 * Evaluates a value by a keyword, or by a whole schema.
 * @param evaluated gets the keys of the members and items that have been evaluated, if `unevaluatedProperties` or
 *   `unevaluatedItems` asks for them
 * @returns whether to go on: false if the value is invalid, unless the evaluation collects all annotations
 */
export type Evaluate = (value: unknown, evaluation: Evaluation, evaluated?: Set<string>) => boolean

/** The result of a schema that a valid value need not fit. */
export interface Branch {
  readonly annotations: Annotations
  /** Absent if the value fits. */
  readonly error: ValidationError | undefined
  readonly evaluated: Set<string> | undefined
}

/** The results of schemas by the container of a value and by its key there: see `memoize.ts`. */
export type Results = Map<Evaluate, Map<object, Map<Key, Branch>>>

/** The state that all branches of an evaluation share. */
interface Shared {
  /** The containers and the keys from the whole value down to the value that is evaluated now. */
  readonly containers: object[]
  readonly keys: Key[]
  /** The results of schemas, and the results where all annotations were collected. */
  results?: Results
  resultsOfCollectAll?: Results
  /** The texts that equal objects and lists share, also by their contents: see `identity.ts`. */
  identities?: Map<object | string, string>
}

const NO_PATH: readonly Key[] = []

/** An evaluation of a value. It knows where it is: whoever goes into a member or an item says so. */
export class Evaluation {
  readonly annotations: Annotations = []
  /** The last error. */
  error: ValidationError | undefined
  /** Whether evaluation goes on after an error, so that all annotations are collected. */
  readonly isCollectAll: boolean
  readonly #shared: Shared

  private constructor(shared: Shared, isCollectAll: boolean) {
    this.#shared = shared
    this.isCollectAll = isCollectAll
  }

  /** Begins an evaluation. @param container of the value @param key of the value in it: its name in messages */
  static of(container: object, key: Key, isCollectAll = false): Evaluation {
    return new Evaluation({ containers: [container], keys: [key] }, isCollectAll)
  }

  /** Goes into a member or an item. {@link leave} must follow. */
  enter(container: object, key: Key): void {
    this.#shared.containers.push(container)
    this.#shared.keys.push(key)
  }

  leave(): void {
    this.#shared.containers.pop()
    this.#shared.keys.pop()
  }

  get container(): object {
    return this.#shared.containers.at(-1) ?? {}
  }

  get key(): Key {
    return this.#shared.keys.at(-1) ?? ''
  }

  /** The container of the value has an error, if it is in one. @returns see {@link Evaluate} */
  failContainer(text: string): boolean {
    const { keys } = this.#shared
    return this.adopt({ path: keys.slice(0, Math.max(keys.length - 1, 1)), text, isTag: false })
  }

  /** The value has an error. @returns see {@link Evaluate} */
  fail(text: string, isTag = false): boolean {
    return this.adopt({ path: this.#shared.keys.slice(), text, isTag })
  }

  /** Takes an error that was found elsewhere. @returns see {@link Evaluate} */
  adopt(error: ValidationError): boolean {
    this.error = error
    return this.isCollectAll
  }

  annotate(content: Content, value: unknown): void {
    const { container, key } = this
    const path = content.isMarked ? this.#shared.keys.slice() : NO_PATH
    this.annotations.push({ content, value, container, key, path })
  }

  /**
   * Tries a schema that the value need not fit. Its annotations count only if they are added: see {@link add}.
   * @param evaluated whether the keys of evaluated members and items are asked for
   */
  try(evaluate: Evaluate, value: unknown, evaluated?: Set<string>): Branch {
    return this.#branchOf(evaluate, value, evaluated, false)
  }

  /** Evaluates a schema by itself, in a branch of its own that collects all annotations if this evaluation does. */
  evaluateApart(evaluate: Evaluate, value: unknown, evaluated?: Set<string>): Branch {
    return this.#branchOf(evaluate, value, evaluated, this.isCollectAll)
  }

  /** Adds the annotations of a branch. */
  add(branch: Branch, evaluated?: Set<string>): void {
    if (branch.annotations.length > 0) this.annotations.push(branch.annotations)
    if (evaluated === undefined || branch.evaluated === undefined) return
    for (const key of branch.evaluated) evaluated.add(key)
  }

  get results(): Results {
    const shared = this.#shared
    if (this.isCollectAll) return (shared.resultsOfCollectAll ??= new Map())
    return (shared.results ??= new Map())
  }

  get identities(): Map<object | string, string> {
    return (this.#shared.identities ??= new Map())
  }

  #branchOf(
    evaluate: Evaluate,
    value: unknown,
    evaluated: Set<string> | undefined,
    isCollectAll: boolean,
  ): Branch {
    const branch = new Evaluation(this.#shared, isCollectAll)
    const keys = evaluated === undefined ? undefined : new Set<string>()
    evaluate(value, branch, keys)
    return { annotations: branch.annotations, error: branch.error, evaluated: keys }
  }
}

/** Whether a value fits a schema. */
export function fits(evaluate: Evaluate, value: unknown, evaluation: Evaluation): boolean {
  return evaluation.try(evaluate, value).error === undefined
}

/** The error to report of branches that all failed: the deepest one. @returns undefined if two are as deep */
export function bestMatch(branches: readonly Branch[]): ValidationError | undefined {
  let best: ValidationError | undefined
  let isTie = false
  for (const { error } of branches) {
    if (error === undefined) continue
    const difference = best === undefined ? 1 : rankOf(error) - rankOf(best)
    if (difference === 0) isTie = true
    if (difference <= 0) continue
    best = error
    isTie = false
  }
  return isTie ? undefined : best
}

/** An error of `enum` and `const` says the least: they only tell alternatives apart. */
function rankOf({ isTag, path }: ValidationError): number {
  return isTag ? 0 : path.length
}
