// Compiles schemas to functions: each schema is the list of its keywords, evaluated in order.
import { type FlattenAny, type SchemaObject, typesOfAlternatives } from './core/allowed-types.ts'
import { booleanSchema } from './boolean-schema.ts'
import type { AnnotationContent, Evaluate } from './core/evaluation.ts'
import { flattenedSchema, reachable } from './core/flattened-schema.ts'
import { compileKeywords } from './keywords/index.ts'
import type { KeywordContext } from './keywords/keyword.ts'
import { memoize } from './memoize.ts'
import { toRegExp } from './core/patterns.ts'
import type { AddedTypes, Formats, Keywords, Schema } from './core/schema.ts'
import { isContainer } from './core/values.ts'
import { decidesType } from './untyped.ts'

/** A mark of properties which only one side sends. */
export type Mark = 'readOnly' | 'writeOnly'

/** Flattens a schema with ids as references: see {@link flattenedSchema}. */
export type Flatten = (schema: unknown) => readonly Keywords[]

export interface Options {
  readonly formats: Formats
  /** A property with one of these marks may be absent, though required. */
  readonly marks: readonly Mark[]
  /** Finds the annotations of a schema; undefined if it has none. */
  readonly annotate: (schema: Keywords, flatten: Flatten) => AnnotationContent | undefined
  /** Types that JSON lacks. Undefined if no value is of them, or untyped: see `untyped.ts`. */
  readonly types: AddedTypes | undefined
}

/** Compiles schemas, each when it is needed. */
export class SchemaCompiler {
  readonly #schemas: Readonly<Record<string, Schema>>
  readonly #options: Options
  readonly #compiled = new Map<Keywords, Evaluate>()
  readonly #conditions = new Map<Keywords, Evaluate>()
  readonly #recursive = new Map<string, boolean>()

  /** @param schemas by id: references are ids */
  constructor(schemas: Readonly<Record<string, Schema>>, options: Options) {
    this.#schemas = schemas
    this.#options = options
  }

  /**
   * Compiles a schema for a value to fit.
   * @param enclosing the schemas around it for the same value: a property marked by them is not required
   */
  compileSchema(schema: Schema, enclosing: readonly Keywords[] = []): Evaluate {
    if (typeof schema === 'boolean') return booleanSchema(schema)
    if (enclosing.length > 0) return this.#compileWithin(schema, enclosing)
    const compiled = this.#compiled.get(schema) ?? this.#compileWithin(schema, enclosing)
    this.#compiled.set(schema, compiled)
    return compiled
  }

  /**
   * Compiles a condition, such as `not` and `if`: a valid value need not fit it. It requires marked properties, too.
   * @param enclosing the schemas around it for the same value: they may restrict its type
   */
  compileCondition(schema: Schema, enclosing: readonly Keywords[] = []): Evaluate {
    if (typeof schema === 'boolean') return booleanSchema(schema)
    if (enclosing.length > 0 && this.#options.types !== undefined)
      return this.#compileAsCondition(schema, enclosing)
    const compiled = this.#conditions.get(schema) ?? this.#compileAsCondition(schema, [])
    this.#conditions.set(schema, compiled)
    return compiled
  }

  #compileWithin(schema: Keywords, enclosing: readonly Keywords[]): Evaluate {
    const schemasOfValue = [...enclosing, ...this.#flatten(schema)]
    const hasMarkedProperties = schemasOfValue.some((part) => allRules(part).some(this.#isMarked))
    // Otherwise a target is compiled once, for all references to it.
    const isContextNeeded = hasMarkedProperties || this.#options.types !== undefined
    const schemasOfTarget = isContextNeeded ? schemasOfValue : []
    return this.#evaluateAll(schema, {
      formats: this.#options.formats,
      types: this.#options.types ?? {},
      inPlace: (part) => this.compileSchema(part, schemasOfValue),
      property: (part, name) =>
        this.#decideType(this.compileSchema(part), part, rulesOfProperty(schemasOfValue, name)),
      item: (part, index) =>
        this.#decideType(this.compileSchema(part), part, rulesOfItem(schemasOfValue, index)),
      condition: (part) => this.compileCondition(part, schemasOfValue),
      reference: (id) =>
        this.#compileReference(id, (target) => this.compileSchema(target, schemasOfTarget)),
      isRequired: (name) =>
        !schemasOfValue.some((part) => rulesFor(part, name).some(this.#isMarked)),
    })
  }

  #compileAsCondition(schema: Keywords, enclosing: readonly Keywords[]): Evaluate {
    const schemasOfValue = [...enclosing, ...this.#flatten(schema)]
    const compile = (part: Schema) => this.compileCondition(part, schemasOfValue)
    return this.#evaluateAll(schema, {
      formats: this.#options.formats,
      types: this.#options.types ?? {},
      inPlace: compile,
      property: (part, name) =>
        this.#decideType(this.compileCondition(part), part, rulesOfProperty(schemasOfValue, name)),
      item: (part, index) =>
        this.#decideType(this.compileCondition(part), part, rulesOfItem(schemasOfValue, index)),
      condition: compile,
      reference: (id) => this.#compileReference(id, compile),
      isRequired: () => true,
    })
  }

  /**
   * Lets an evaluation decide on untyped properties and items.
   * @param rules the schemas of the same property or item: together they say its types
   */
  #decideType(evaluate: Evaluate, schema: Schema, rules: readonly unknown[]): Evaluate {
    if (this.#options.types === undefined) return evaluate
    const types = typesOfAlternatives({ allOf: [schema, ...rules] }, this.#flattenAny)
    return decidesType(evaluate, types)
  }

  /** Evaluates all keywords of a schema. `unevaluated…` needs the keys evaluated by the others. */
  #evaluateAll(schema: Keywords, context: KeywordContext): Evaluate {
    const keywords = compileKeywords(schema, context)
    const annotation = this.#options.annotate(schema, this.#flatten)
    const { unevaluatedProperties, unevaluatedItems } = schema
    const needsKeys = unevaluatedProperties !== undefined || unevaluatedItems !== undefined
    const evaluateKeywords: Evaluate = (value, evaluation, evaluated) => {
      evaluation.begin()
      if (annotation !== undefined) evaluation.annotate(annotation, value)
      let goesOn = true
      for (const evaluate of keywords) {
        goesOn = evaluate(value, evaluation, evaluated)
        if (!goesOn) break
      }
      evaluation.end()
      return goesOn
    }
    return needsKeys ? withSeparateKeys(evaluateKeywords) : evaluateKeywords
  }

  /** The target is compiled when needed: it may lead back here. */
  #compileReference(id: string, compile: (target: Schema) => Evaluate): Evaluate {
    let target: Evaluate | undefined
    return (value, evaluation, evaluated) => {
      target ??= this.#compileTarget(id, compile)
      return target(value, evaluation, evaluated)
    }
  }

  #compileTarget(id: string, compile: (target: Schema) => Evaluate): Evaluate {
    const target = compile(this.#schemas[id] ?? true)
    return this.#isRecursive(id) ? memoize(target) : target
  }

  /** Whether a schema leads back to itself. */
  #isRecursive(id: string): boolean {
    const remembered = this.#recursive.get(id)
    if (remembered !== undefined) return remembered
    const nodes = reachable(this.#schemas[id], this.#targetOf)
    const isRecursive = nodes.some((node) => isContainer(node) && Reflect.get(node, '$ref') === id)
    this.#recursive.set(id, isRecursive)
    return isRecursive
  }

  readonly #targetOf = ({ $ref = '' }: Keywords) => this.#schemas[$ref]

  readonly #flatten: Flatten = (schema) => flattenedSchema(schema, this.#targetOf)

  readonly #flattenAny: FlattenAny = (schema) =>
    flattenedSchema<SchemaObject>(schema, ({ $ref }) => this.#schemas[String($ref)])

  readonly #isMarked = (schema: unknown): boolean =>
    this.#flatten(schema).some((part) => this.#options.marks.some((mark) => part[mark] === true))
}

/** Keeps the keys of a schema apart from those of others: `unevaluated…` is about one schema. */
function withSeparateKeys(evaluate: Evaluate): Evaluate {
  return (value, evaluation, evaluated) => {
    const keys = new Set<string>()
    const goesOn = evaluate(value, evaluation, keys)
    evaluation.hold(-keys.size)
    if (goesOn) for (const key of keys) evaluation.addKey(key, evaluated)
    return goesOn
  }
}

/** The schemas of a property in all schemas of its object. @param name if it is known */
function rulesOfProperty(schemas: readonly Keywords[], name: string | undefined): unknown[] {
  return name === undefined ? [] : schemas.flatMap((schema) => rulesFor(schema, name))
}

/** The schemas of an item in all schemas of its list. @param index if it is known */
function rulesOfItem(schemas: readonly Keywords[], index = Infinity): unknown[] {
  return schemas.flatMap(({ prefixItems = [], items = [] }) => prefixItems[index] ?? items)
}

/** The schemas of an object for a property of this name. */
function rulesFor(schema: Keywords, name: string): unknown[] {
  const { properties = {}, patternProperties = {}, additionalProperties } = schema
  const rules: unknown[] = Object.hasOwn(properties, name) ? [properties[name]] : []
  for (const [pattern, rule] of Object.entries(patternProperties))
    if (toRegExp(pattern).test(name)) rules.push(rule)
  return rules.length > 0 ? rules : [additionalProperties]
}

/** The schemas of an object for properties of any name. */
function allRules({ properties, patternProperties, additionalProperties }: Keywords): unknown[] {
  const named = Object.values({ ...properties })
  const matching = Object.values({ ...patternProperties })
  return [...named, ...matching, additionalProperties]
}
