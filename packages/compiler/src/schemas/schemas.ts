// Compiles the schemas of a contract for the engine, and reports keywords it can't validate as described.
import type { Oas3_1Definition } from '@redocly/openapi-core'
import {
  type Check,
  flattenedSchema,
  isObject,
  type Schema,
  type SchemaObject,
  Validator,
} from '@plant-store/json-schema'
import { type ProductHooks, reasonOf, type Template } from '@plant-store/engine/for-compiler'
import type { Finding } from '../sentences/sentences.ts'
import type { Diagnostics } from '../read/diagnostics.ts'
import { compileKeyword, isSchema } from '../read/keywords.ts'
import { samplesOfCompiled } from '../samples/compiled-reader.ts'
import type { Samples } from '../samples/samples.ts'
import { DANGLING, member, resolveReference, tryDeref } from '../read/references.ts'
import { keywordDiagnostic, metaErrors } from './refusals.ts'
import { bytesRule, isFile, lengthsOf, type ValueSyntax } from './shapes.ts'

export interface Compilation {
  readonly root: Oas3_1Definition
  readonly schemas: Schemas
  readonly diagnostics: Diagnostics
  /** The hooks of the product; undefined if no product is known for the document. */
  readonly product: ProductHooks | undefined
  /**
   * The templates of errors, by the id of the schema and the status; undefined where none can be
   * written: see error-forms.ts.
   */
  readonly templates: Map<string, Template | undefined>
}

interface WithDefault {
  readonly written: SchemaObject
  readonly compiled: Record<string, unknown>
}

/** An example or an `enum` value, to check against its schema. */
interface ExampleValue {
  readonly value: unknown
  readonly schema: Schema
  /** The place of the value: an object of the document, and a path in it. */
  readonly node: object
  readonly path: readonly string[]
  /** The code of the warning about an invalid value. */
  readonly code: 'example-misfit' | 'enum-misfit'
}

/** The compiled schemas of a contract, by id. In them, `$ref` is an id. */
export class Schemas {
  readonly compiled: Record<string, Schema> = {}
  readonly withoutDefault = new Set<unknown>()
  readonly #ids = { json: new Map<unknown, string>(), form: new Map<unknown, string>() }
  /** Whether a schema breaks the meta-schema, so that its keywords may have values of any type. */
  hasInvalid = false
  readonly #nodes = new Map<string, unknown>()
  readonly #defaults: WithDefault[] = []
  readonly #exampleValues: ExampleValue[] = []
  /** Schemas of the document, by their compiled forms. */
  readonly #written = new Map<unknown, SchemaObject>()
  readonly #properties: Schema[] = []
  #validator: Validator | undefined
  #storingValidator: Validator | undefined
  /** Fills in the remaining defaults. */
  #defaultsValidator: Validator | undefined
  readonly #diagnostics: Diagnostics
  /** The formats of the product. */
  readonly formats: NonNullable<ProductHooks['formats']>
  #samples: Samples | undefined

  constructor(diagnostics: Diagnostics, formats: ProductHooks['formats'] = {}) {
    this.#diagnostics = diagnostics
    this.formats = formats
  }

  /** Adds a schema, and the targets of its references. @returns its id */
  add(schema: unknown, syntax: ValueSyntax = 'json'): string {
    const target = onlyTargetOf(schema)
    if (isSchema(target)) return this.add(target, syntax)
    const ids = this.#ids[syntax]
    const earlier = ids.get(schema)
    if (earlier !== undefined) return earlier
    const id = `${syntax}-${ids.size}`
    ids.set(schema, id)
    this.#nodes.set(id, schema)
    this.compiled[id] = true // reserves the id before subschemas get theirs
    if (isObject(schema))
      for (const { path, finding } of metaErrors(schema)) {
        this.#diagnostics.error(schema, finding, ...path)
        this.hasInvalid = true
      }
    this.compiled[id] = this.#compile(schema, syntax)
    return id
  }

  /** Makes values of the schemas. Their examples are those of the document. Call it after the last `add`. */
  get samples(): Samples {
    this.#samples ??= samplesOfCompiled(this.compiled, {
      formats: this.formats,
      examplesOf: (compiled) => examplesIn(this.#written.get(compiled)),
    })
    return this.#samples
  }

  nodeOf(id: string): unknown {
    return this.#nodes.get(id)
  }

  writtenOf(compiled: Schema): SchemaObject | undefined {
    return this.#written.get(compiled)
  }

  /** Whether a value fits schemas, in a request or a response; true if a schema is broken. Call it after the last `add`. */
  fits(value: unknown, schemas: readonly Schema[]): boolean {
    this.#storingValidator ??= new Validator(this.compiled, 'storing', this.formats)
    try {
      const check = this.#storingValidator.compile('value', { allOf: schemas })
      return check(value).error === undefined
    } catch {
      return true
    }
  }

  /** Compiles the check of a value in a response. Call it after the last `add`. */
  check(name: string, schema: Schema): Check {
    this.#validator ??= new Validator(this.compiled, 'outgoing', this.formats)
    return safeCheck(this.#validator, name, schema)
  }

  /** Adds the examples of a media type or a parameter. @param id of its schema */
  addExamples(node: { readonly example?: unknown; readonly examples?: unknown }, id: string): void {
    const schema = { $ref: id }
    const code = 'example-misfit'
    if (node.example !== undefined)
      this.#exampleValues.push({ value: node.example, schema, node, path: ['example'], code })
    for (const [name, example] of Object.entries(node.examples ?? {})) {
      const value = member(tryDeref<unknown>(example), 'value')
      if (value !== undefined)
        this.#exampleValues.push({ value, schema, node, path: ['examples', name], code })
    }
  }

  /** Warns of examples and `enum` values refused by their schemas. Call it after the last `add`. */
  checkExamples(): void {
    const validator = new Validator(this.compiled, 'storing', this.formats)
    for (const { value, schema, node, path, code } of this.#exampleValues) {
      const { error } = safeCheck(validator, 'example', schema)(value)
      if (error !== undefined) this.#diagnostics.warn(node, { code, error }, ...path)
    }
  }

  /** Removes defaults that break their schema, or fill in too much. Call it after the last `add`. */
  checkDefaults(): void {
    for (const withDefault of this.#defaults) {
      const { compiled } = withDefault
      const { error } = this.check('default', compiled)(compiled['default'])
      if (error !== undefined) this.#leaveOut(withDefault, { code: 'default-misfit' })
    }
    for (const { compiled } of this.#defaults) this.#boundDefault(compiled)
    for (const property of this.#properties) this.#boundDefault(property)
  }

  /** Removes defaults of a schema until the rest no longer fill in too much. */
  #boundDefault(schema: Schema): void {
    const parts = flattenedSchema<SchemaObject>(schema, ({ $ref }) => this.compiled[String($ref)])
    for (const part of parts) {
      if (part['default'] === undefined) continue
      const most = this.#exceededLimit(schema)
      if (most === undefined) return
      const withDefault = this.#defaults.find(({ compiled }) => compiled === part)
      if (withDefault !== undefined)
        this.#leaveOut(withDefault, { code: 'default-too-large', most })
    }
  }

  /** The most properties to fill in, if the defaults of a property would fill in more. */
  #exceededLimit(schema: Schema): string | undefined {
    this.#defaultsValidator ??= new Validator(this.compiled, 'incoming', this.formats)
    const check = safeCheck(this.#defaultsValidator, 'default', { properties: { x: schema } })
    const { reason } = check({})
    return reason?.keyword === 'default' ? String(reason.limit) : undefined
  }

  #leaveOut({ written, compiled }: WithDefault, finding: Finding): void {
    this.#diagnostics.warn(written, finding, 'default')
    this.withoutDefault.add(written)
    delete compiled['default']
    this.#defaultsValidator = undefined // it still has the default
  }

  #compile(schema: unknown, syntax: ValueSyntax): Schema {
    if (!isObject(schema)) return schema !== false
    if (syntax === 'form' && isFile(schema)) return this.#compileFile(schema)
    const compiled: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(schema)) {
      if (this.#isRefused(key, schema, syntax)) continue
      const keywords = compileKeyword({
        key,
        value,
        schema,
        compile: (subschema) => this.#compile(subschema, syntax),
        refer: () => this.#refer(schema, syntax),
      })
      if (keywords === undefined)
        this.#diagnostics.warn(schema, { code: 'keyword-unknown', key }, key)
      Object.assign(compiled, keywords)
    }
    this.#written.set(compiled, schema)
    if ('default' in compiled) this.#defaults.push({ written: schema, compiled })
    if (syntax === 'json') this.#keepExamples(schema, compiled)
    this.#properties.push(
      ...Object.values((compiled['properties'] ?? {}) as Record<string, Schema>),
    )
    return compiled
  }

  /** Keeps the examples and the `enum` values of a schema for `checkExamples`. */
  #keepExamples(node: SchemaObject, compiled: Record<string, unknown>): void {
    const example = { schema: compiled, node, code: 'example-misfit' } as const
    if (node['example'] !== undefined)
      this.#exampleValues.push({ ...example, value: node['example'], path: ['example'] })
    for (const [index, value] of listOf(node['examples']).entries())
      this.#exampleValues.push({ ...example, value, path: ['examples', String(index)] })
    const { type } = compiled
    const rule = type === undefined ? true : ({ type } as Schema)
    for (const [index, value] of listOf(node['enum']).entries())
      this.#exampleValues.push({
        schema: rule,
        node,
        code: 'enum-misfit',
        value,
        path: ['enum', String(index)],
      })
  }

  #compileFile(schema: SchemaObject): Schema {
    if (bytesRule(schema) === undefined) this.#diagnostics.warn(schema, { code: 'file-rules' })
    return { type: 'file', ...lengthsOf(schema) }
  }

  /** Reports a keyword if it is refused, or served with a warning. @returns whether it is refused */
  #isRefused(key: string, schema: SchemaObject, syntax: ValueSyntax): boolean {
    const isFormatOfProduct = key === 'format' && Object.hasOwn(this.formats, String(schema[key]))
    if (isFormatOfProduct) return false
    const diagnostic = keywordDiagnostic(key, schema, syntax)
    if (diagnostic === undefined) return false
    const { level, finding } = diagnostic
    this.#diagnostics[level](schema, finding, key)
    return level === 'error'
  }

  #refer(schema: SchemaObject, syntax: ValueSyntax): string {
    const target = resolveReference<unknown>(schema)
    if (!isSchema(target)) this.#diagnostics.error(schema, DANGLING, '$ref')
    return this.add(target, syntax)
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The examples in a schema of the document. */
function examplesIn(schema: SchemaObject = {}): readonly unknown[] {
  const { example, examples } = schema
  return example === undefined ? listOf(examples) : [example, ...listOf(examples)]
}

function onlyTargetOf(schema: unknown): unknown {
  const isReference = Object.keys(schema ?? {}).join() === '$ref'
  return isReference ? resolveReference<unknown>(schema) : undefined
}

/** A broken schema was reported already; every value then fails with its error. */
function safeCheck(validator: Validator, name: string, schema: Schema): Check {
  return (value) => {
    try {
      return validator.compile(name, schema)(value)
    } catch (error) {
      return { error: reasonOf(error) }
    }
  }
}

/** Adds the schemas of stored items. @returns their ids, by the names of the schemas */
export function readItems({
  root,
  schemas,
  product: { collections = {} } = {},
}: Compilation): Readonly<Record<string, string>> {
  const names = new Set(Object.values(collections).map(({ schema }) => schema))
  const described = Object.entries(root.components?.schemas ?? {})
  const stored = described.filter(([name]) => names.has(name))
  return Object.fromEntries(stored.map(([name, schema]) => [name, schemas.add(schema)]))
}
