// Compiles the schemas of a contract for the engine's json-schema/, and reports keywords that it can't validate as described.
import type { Oas3_1Definition } from '@redocly/openapi-core'
import {
  type Check,
  FILLS_IN_TOO_MUCH,
  flattenedSchema,
  isObject,
  type Schema,
  type SchemaObject,
  Validator,
} from '@plant-store/json-schema'
import { type DescribedError, type ProductHooks, reasonOf } from '@plant-store/engine/for-compiler'
import type { Diagnostics } from '../read/diagnostics.ts'
import { compileKeyword, isSchema } from '../read/keywords.ts'
import { LEADS_NOWHERE, member, resolveReference, tryDeref } from '../read/references.ts'
import { keywordDiagnostic, metaErrors } from './refusals.ts'
import { bytesRule, isFile, type SentAs } from './shapes.ts'

/** An error that the product has to write: it has a form that the service does not know. */
export interface ErrorOfProduct extends DescribedError {
  /** Its place in the document. */
  readonly media: object
  /** The statuses that the operation does not describe, and that have this form, because it is the first one. */
  readonly undescribed: readonly number[]
}

/** The document to compile, with its schemas and its diagnostics. */
export interface Context {
  readonly root: Oas3_1Definition
  readonly schemas: Schemas
  readonly diagnostics: Diagnostics
  /** The hooks of the product; undefined if no product is known for the document. */
  readonly product: ProductHooks | undefined
  /** The errors that the product has to write: error-forms.ts adds them. */
  readonly errorsOfProduct: ErrorOfProduct[]
}

/** A schema with a default, as it was written and compiled. */
interface WithDefault {
  readonly written: SchemaObject
  readonly compiled: Record<string, unknown>
}

/** A value of a document that illustrates a schema, or that its `enum` has. */
interface Illustrated {
  readonly value: unknown
  readonly schema: Schema
  /** The object that has the value, and the path in it. */
  readonly node: object
  readonly path: readonly string[]
  readonly note: string
}

/** The compiled schemas of a contract. Each gets an id, and `$ref` refers to these ids. */
export class Schemas {
  readonly compiled: Record<string, Schema> = {}
  /** Schemas with a default that is not filled in. */
  readonly withoutDefault = new Set<unknown>()
  readonly #ids = { json: new Map<unknown, string>(), form: new Map<unknown, string>() }
  /** Whether one of the schemas is no valid schema: its keywords may have values of any type. */
  hasInvalid = false
  readonly #nodes = new Map<string, unknown>()
  readonly #defaults: WithDefault[] = []
  readonly #illustrated: Illustrated[] = []
  /** Each schema as it was written, by the compiled one. */
  readonly #written = new Map<unknown, SchemaObject>()
  /** The schemas of members, as they were compiled. */
  readonly #members: Schema[] = []
  #validator: Validator | undefined
  #storingValidator: Validator | undefined
  /** Fills in the defaults that are left. */
  #defaultsValidator: Validator | undefined
  readonly #diagnostics: Diagnostics
  readonly #formats: NonNullable<ProductHooks['formats']>

  /** @param formats of the product */
  constructor(diagnostics: Diagnostics, formats: ProductHooks['formats'] = {}) {
    this.#diagnostics = diagnostics
    this.#formats = formats
  }

  /** Adds a schema, and the schemas that it refers to. @returns its id */
  add(schema: unknown, sentAs: SentAs = 'json'): string {
    const target = onlyTargetOf(schema)
    if (isSchema(target)) return this.add(target, sentAs)
    const ids = this.#ids[sentAs]
    const earlier = ids.get(schema)
    if (earlier !== undefined) return earlier
    const id = `${sentAs}-${ids.size}`
    ids.set(schema, id)
    this.#nodes.set(id, schema)
    this.compiled[id] = true // reserves the id before the schemas of members get ids
    if (isObject(schema))
      for (const { path, text } of metaErrors(schema)) {
        this.#diagnostics.error(schema, text, ...path)
        this.hasInvalid = true
      }
    this.compiled[id] = this.#compile(schema, sentAs)
    return id
  }

  /** A schema as it is in the document, by its id. */
  nodeOf(id: string): unknown {
    return this.#nodes.get(id)
  }

  /** A schema as it was written, by the compiled one. */
  writtenOf(compiled: Schema): SchemaObject | undefined {
    return this.#written.get(compiled)
  }

  /** Whether a value fits schemas, whoever sends it; true if one of them is broken. The schemas must be complete. */
  fits(value: unknown, schemas: readonly Schema[]): boolean {
    this.#storingValidator ??= new Validator(this.compiled, 'storing', this.#formats)
    try {
      const check = this.#storingValidator.compile('value', { allOf: schemas })
      return check(value).error === undefined
    } catch {
      return true
    }
  }

  /** The check of an outgoing value. The schemas must be complete. */
  check(name: string, schema: Schema): Check {
    this.#validator ??= new Validator(this.compiled, 'outgoing', this.#formats)
    return safeCheck(this.#validator, name, schema)
  }

  /** Adds the examples of a media type or a parameter. @param id of its schema */
  addExamples(node: { readonly example?: unknown; readonly examples?: unknown }, id: string): void {
    const schema = { $ref: id }
    const note = MISFIT
    if (node.example !== undefined)
      this.#illustrated.push({ value: node.example, schema, node, path: ['example'], note })
    for (const [name, example] of Object.entries(node.examples ?? {})) {
      const value = member(tryDeref<unknown>(example), 'value')
      if (value !== undefined)
        this.#illustrated.push({ value, schema, node, path: ['examples', name], note })
    }
  }

  /** Reports each example, and each value of an `enum`, that its schema refuses. The schemas must be complete. */
  checkExamples(): void {
    const validator = new Validator(this.compiled, 'storing', this.#formats)
    for (const { value, schema, node, path, note } of this.#illustrated) {
      const { error } = safeCheck(validator, 'example', schema)(value)
      if (error !== undefined) this.#diagnostics.warn(node, `${note}: ${error}`, ...path)
    }
  }

  /** Removes defaults that do not fit their schema, or fill in too much. The schemas must be complete. */
  checkDefaults(): void {
    for (const withDefault of this.#defaults) {
      const { compiled } = withDefault
      const { error } = this.check('default', compiled)(compiled['default'])
      if (error !== undefined) this.#leaveOut(withDefault, 'does not fit its schema')
    }
    for (const { compiled } of this.#defaults) this.#boundDefault(compiled)
    for (const member of this.#members) this.#boundDefault(member)
  }

  /** Removes the default of a member until it does not fill in too much. */
  #boundDefault(member: Schema): void {
    const parts = flattenedSchema<SchemaObject>(member, ({ $ref }) => this.compiled[String($ref)])
    for (const part of parts) {
      if (part['default'] === undefined) continue
      if (!this.#fillsInTooMuch(member)) return
      const withDefault = this.#defaults.find(({ compiled }) => compiled === part)
      if (withDefault !== undefined) this.#leaveOut(withDefault, FILLS_IN_TOO_MUCH)
    }
  }

  #fillsInTooMuch(member: Schema): boolean {
    this.#defaultsValidator ??= new Validator(this.compiled, 'incoming', this.#formats)
    const check = safeCheck(this.#defaultsValidator, 'default', { properties: { x: member } })
    return check({}).reason?.keyword === 'default'
  }

  #leaveOut({ written, compiled }: WithDefault, reason: string): void {
    this.#diagnostics.warn(written, `this default ${reason}: it is not filled in`, 'default')
    this.withoutDefault.add(written)
    delete compiled['default']
    this.#defaultsValidator = undefined // the validator was compiled with the default
  }

  #compile(schema: unknown, sentAs: SentAs): Schema {
    if (!isObject(schema)) return schema !== false
    if (sentAs === 'form' && isFile(schema)) return this.#compileFile(schema)
    const compiled: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(schema)) {
      if (this.#isRefused(key, schema, sentAs)) continue
      const keywords = compileKeyword({
        key,
        value,
        schema,
        compile: (part) => this.#compile(part, sentAs),
        refer: () => this.#refer(schema, sentAs),
      })
      if (keywords === undefined) this.#diagnostics.warn(schema, `${key} ${UNKNOWN}`, key)
      Object.assign(compiled, keywords)
    }
    this.#written.set(compiled, schema)
    if ('default' in compiled) this.#defaults.push({ written: schema, compiled })
    if (sentAs === 'json') this.#illustrate(schema, compiled)
    this.#members.push(...Object.values((compiled['properties'] ?? {}) as Record<string, Schema>))
    return compiled
  }

  /** Remembers the examples and the values of `enum` of a schema. */
  #illustrate(node: SchemaObject, compiled: Record<string, unknown>): void {
    const example = { schema: compiled, node, note: MISFIT }
    if (node['example'] !== undefined)
      this.#illustrated.push({ ...example, value: node['example'], path: ['example'] })
    for (const [index, value] of listOf(node['examples']).entries())
      this.#illustrated.push({ ...example, value, path: ['examples', String(index)] })
    const { type } = compiled
    const rule = type === undefined ? true : ({ type } as Schema)
    for (const [index, value] of listOf(node['enum']).entries())
      this.#illustrated.push({
        schema: rule,
        node,
        note: NO_VALUE,
        value,
        path: ['enum', String(index)],
      })
  }

  #compileFile(schema: SchemaObject): Schema {
    const rule = bytesRule(schema)
    if (rule === undefined) this.#diagnostics.error(schema, FILE_RULE)
    return { type: 'file', ...rule }
  }

  /** Reports a keyword that is refused, or is served with a note. @returns whether it is refused */
  #isRefused(key: string, schema: SchemaObject, sentAs: SentAs): boolean {
    const isFormatOfProduct = key === 'format' && Object.hasOwn(this.#formats, String(schema[key]))
    if (isFormatOfProduct) return false
    const diagnostic = keywordDiagnostic(key, schema, sentAs)
    if (diagnostic === undefined) return false
    const { level, text } = diagnostic
    this.#diagnostics[level](schema, text, key)
    return level === 'error'
  }

  /** Adds the target of a reference. @returns its id */
  #refer(schema: SchemaObject, sentAs: SentAs): string {
    const target = resolveReference<unknown>(schema)
    if (!isSchema(target)) this.#diagnostics.error(schema, LEADS_NOWHERE, '$ref')
    return this.add(target, sentAs)
  }
}

const MISFIT = 'this example does not fit its schema'
const NO_VALUE = 'the type refuses this value of enum'
const UNKNOWN = 'is no keyword of JSON Schema 2020-12: it validates nothing'
const FILE_RULE = 'a file of a form has minLength and maxLength in bytes, and no more'

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The target of a schema that has only a reference. */
function onlyTargetOf(schema: unknown): unknown {
  const isReference = Object.keys(schema ?? {}).join() === '$ref'
  return isReference ? resolveReference<unknown>(schema) : undefined
}

/** If a schema has an error, which has been reported, each value has it. */
function safeCheck(validator: Validator, name: string, schema: Schema): Check {
  return (value) => {
    try {
      return validator.compile(name, schema)(value)
    } catch (error) {
      return { error: reasonOf(error) }
    }
  }
}

/** Adds the schemas of the items that the product stores, for items.ts of the engine. @returns their ids, by name */
export function readItems({
  root,
  schemas,
  product: { collections = {} } = {},
}: Context): Readonly<Record<string, string>> {
  const names = new Set(Object.values(collections).map(({ schema }) => schema))
  const described = Object.entries(root.components?.schemas ?? {})
  const stored = described.filter(([name]) => names.has(name))
  return Object.fromEntries(stored.map(([name, schema]) => [name, schemas.add(schema)]))
}
