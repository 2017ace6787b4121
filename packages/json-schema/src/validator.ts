// Validates values by schemas, and changes them by the annotations of these schemas.
import { contentOf, decodeInt64s, listAnnotations, type AnnotationOptions } from './annotations.ts'
import { fillInDefaults } from './defaults.ts'
import { type Annotation, type Evaluate, Evaluation, type Reserve } from './core/evaluation.ts'
import { reachable } from './core/flattened-schema.ts'
import { roundNumbers } from './core/numbers.ts'
import type { AddedTypes, Formats, Schema } from './core/schema.ts'
import { PlainSchemas } from './plain.ts'
import { SchemaCompiler } from './schema-compiler.ts'
import { pointerOf, sentenceOf } from './core/sentences.ts'
import {
  type ErrorKeyword,
  type Key,
  keysOf,
  type Problem,
  type ValidationError,
} from './core/validation-error.ts'
import { isContainer, isObject } from './core/values.ts'
import { replaceUntyped } from './untyped.ts'

/**
 * Validates a value, and changes it.
 * @param reserve gets the bytes of memory held by the evaluation
 * @param value with numbers as `parseJson` has them. In an incoming value, other numbers than int64 become a `number`
 * @returns the changed value, or its error: a sentence, beginning with its name
 */
export type Check = (value: unknown, reserve?: Reserve) => Checked
interface Checked {
  readonly value?: unknown
  readonly error?: string
  /** The error as data. */
  readonly reason?: Reason
}

/** Why a value is invalid. */
export interface Reason {
  /** The keys down to the place of the error. The first one is the name of the value. */
  readonly path: readonly Key[]
  /** The keyword of JSON Schema which refuses the value, or another reason: see `Limits`. */
  readonly keyword: ErrorKeyword
  /** The part of the schema which refuses the value, such as the number of `maxLength`. */
  readonly limit: unknown
}

/**
 * The uses of values.
 * - incoming: an int64 becomes a `bigint`, an absent property gets its default, and none may be `readOnly`
 * - outgoing: `writeOnly` properties are removed
 * - stored: an int64 becomes a `bigint`
 * - storing: nothing is changed, and `readOnly` and `writeOnly` properties may be absent
 */
const USES = {
  incoming: { marks: ['readOnly'], int64: true, defaults: true },
  outgoing: { marks: ['writeOnly'], int64: false, defaults: false },
  stored: { marks: [], int64: true, defaults: false },
  storing: { marks: ['readOnly', 'writeOnly'], int64: false, defaults: false },
} as const satisfies Record<string, AnnotationOptions>
export type Use = keyof typeof USES

/** Validates by JSON Schema 2020-12, the dialect of OpenAPI 3.1. Values are never coerced. */
export class Validator {
  readonly #schemas: Readonly<Record<string, Schema>>
  readonly #use: Use
  readonly #compiler: SchemaCompiler
  readonly #hasUntyped: boolean
  /** Undefined where values may be untyped. */
  readonly #plain: PlainSchemas | undefined

  /**
   * @param schemas by id
   * @param formats added to the formats of ajv-formats
   * @param types if it is given, values may be `Untyped`, or of these types
   */
  constructor(
    schemas: Readonly<Record<string, Schema>>,
    use: Use,
    formats: Formats = {},
    types?: AddedTypes,
  ) {
    const { marks } = USES[use]
    this.#schemas = schemas
    this.#use = use
    this.#hasUntyped = types !== undefined
    this.#plain = types === undefined ? new PlainSchemas((id) => schemas[id]) : undefined
    this.#compiler = new SchemaCompiler(schemas, {
      formats,
      marks,
      types,
      annotate: (schema, flatten) =>
        use === 'storing' ? undefined : contentOf(schema, USES[use], flatten),
    })
  }

  /**
   * Makes the check of a schema.
   * @param name of the value in errors
   * @param markedFrom the depth at which `readOnly` and `writeOnly` begin to apply: 1 for a body, 2 for an object of parameters
   */
  compile(name: string, schema: Schema, markedFrom = 1): Check {
    const evaluate = this.#compiler.compileSchema(schema)
    const check: Check =
      this.#use === 'incoming'
        ? (value, reserve) => this.#checkIncoming({ evaluate, name, markedFrom, reserve }, value)
        : (value) => checkOutgoing(evaluate, name, value, markedFrom)
    return (value, reserve) =>
      unlessTooNested(name, () => this.#accept(schema, value) ?? check(value, reserve))
  }

  /** Accepts a value that surely fits a plain schema. The schema is read at its first use, not at the start. */
  #accept(schema: Schema, value: unknown): Checked | undefined {
    const plain = this.#plain?.of(schema)
    if (plain?.fits(value) !== true) return undefined
    const isDecoded = this.#use === 'incoming' && plain.decode !== undefined
    return { value: isDecoded ? plain.decode(value) : value }
  }

  /** Makes a `bigint` of each int64 in a value, valid or not. */
  decodeInt64s(schema: Schema, value: unknown): unknown {
    const root = { value }
    decodeInt64s(this.#annotationsOf(schema, root, 'value'))
    return root.value
  }

  /** Whether a schema has `writeOnly` properties, which are removed from outgoing values. */
  hasWriteOnly(schema: Schema): boolean {
    const nodes = reachable(schema, ({ $ref = '' }) => this.#schemas[$ref])
    return nodes.some((node) => isObject(node) && node['writeOnly'] === true)
  }

  #checkIncoming({ evaluate, name, markedFrom, reserve }: Incoming, value: unknown): Checked {
    const root: Record<string, unknown> = {}
    root[name] = value
    const evaluation = new Evaluation(root, name, { reserve })
    if (!evaluate(value, evaluation)) return invalid(evaluation.error)
    const annotations = listAnnotations(evaluation.annotations)
    const mayBeUntyped = this.#hasUntyped && isObject(value)
    const undecided = mayBeUntyped ? replaceUntyped(annotations, value) : undefined
    if (undecided !== undefined) return refused([name, ...undecided.path], undecided.problem)
    const readOnly = annotations.find((annotation) => isMarked(annotation, markedFrom))
    if (readOnly) return refused(keysOf(readOnly.path), READ_ONLY)
    const problem = fillInDefaults(annotations, (schema, container, name) =>
      this.#annotationsOf(schema, container, name),
    )
    if (problem !== undefined) return refused([name], problem)
    roundNumbers(root)
    decodeInt64s(annotations)
    return { value: root[name] }
  }

  /** The annotations of a value, valid or not. */
  #annotationsOf(schema: Schema, container: object, key: Key): Annotation[] {
    const evaluation = new Evaluation(container, key, { isCollectAll: true })
    this.#compiler.compileSchema(schema)(Reflect.get(container, key), evaluation)
    return listAnnotations(evaluation.annotations)
  }
}

/** The check of an incoming value. */
interface Incoming {
  readonly evaluate: Evaluate
  readonly name: string
  readonly markedFrom: number
  readonly reserve: Reserve | undefined
}

const NESTING: Problem = { keyword: 'nesting', limit: undefined }

/** A value may be nested too deep: the schemas of all its levels would exceed the stack. */
function unlessTooNested(name: string, check: () => Checked): Checked {
  try {
    return check()
  } catch (error) {
    if (error instanceof RangeError) return refused([name], NESTING)
    throw error
  }
}

/** Also for stored values, whose properties are never marked. */
function checkOutgoing(
  evaluate: Evaluate,
  name: string,
  value: unknown,
  markedFrom: number,
): Checked {
  const evaluation = new Evaluation({ [name]: value }, name)
  if (!evaluate(value, evaluation)) return invalid(evaluation.error)
  if (evaluation.annotations.length === 0) return { value }
  const isWriteOnly = listAnnotations(evaluation.annotations).some((annotation) =>
    isMarked(annotation, markedFrom),
  )
  return isWriteOnly ? checkWithout(evaluate, name, value, markedFrom) : { value }
}

/**
 * Removes marked properties, and checks the rest. One object may stand at several places of a value: in a copy, each place
 * has a separate object.
 */
function checkWithout(
  evaluate: Evaluate,
  name: string,
  value: unknown,
  markedFrom: number,
): Checked {
  const copied = without(value, new Map())
  const ofCopy = new Evaluation({ [name]: copied }, name)
  if (!evaluate(copied, ofCopy)) return invalid(ofCopy.error)
  const marked = listAnnotations(ofCopy.annotations).filter((annotation) =>
    isMarked(annotation, markedFrom),
  )
  const sent = without(
    copied,
    Map.groupBy(marked, ({ container }) => container),
  )
  const ofRest = new Evaluation({ [name]: sent }, name)
  return evaluate(sent, ofRest) ? { value: sent } : invalid(ofRest.error)
}

const isMarked = ({ content, path }: Annotation, markedFrom: number) =>
  content.isMarked && path !== undefined && path.length > markedFrom

const READ_ONLY: Problem = { keyword: 'readOnly', limit: true }

function invalid(error?: ValidationError): Checked {
  return error === undefined ? { error: 'is invalid' } : refused(keysOf(error.path), error.problem)
}

function refused(path: readonly Key[], problem: Problem): Checked {
  const { keyword, limit } = problem
  return {
    error: `${pointerOf(path)} ${sentenceOf(problem)}`,
    reason: { path, keyword, limit },
  }
}

/** Copies a value without some properties and items. @param removed by their object or list */
function without(value: unknown, removed: ReadonlyMap<object, readonly Annotation[]>): unknown {
  if (!isContainer(value) || Reflect.get(value, 'toJSON') instanceof Function) return value
  const keys = new Set(removed.get(value)?.map(({ key }) => String(key)))
  const left = Object.entries<unknown>({ ...value }).filter(([key]) => !keys.has(key))
  const copied = left.map(([key, child]) => [key, without(child, removed)] as const)
  if (Array.isArray(value)) return copied.map(([, item]) => item)
  return Object.fromEntries(copied)
}
