// Compiles the schemas of a contract for validation.ts, and refuses everything that it can't validate as described.
import type { Oas3_1Definition } from '@redocly/openapi-core'
import type { Schema } from '../engine/json-schema/schema.ts'
import type { Extensions } from '../engine/contract/extensions.ts'
import type { Findings } from './findings.ts'
import { LEADS_NOWHERE, resolveReference } from './references.ts'
import { keywordFinding, metaFaults } from './refusals.ts'
import { bytesRule, declaredTypes, isFile, type SchemaObject } from './shapes.ts'
import { isObject } from '../engine/json-schema/assertions.ts'
import { jointSchemas } from '../engine/json-schema/joint-schemas.ts'
import { type Check, FILLS_IN_TOO_MUCH, Validators } from '../engine/contract/validation.ts'
import { reasonOf } from '../engine/errors.ts'

/** Keywords with schemas by name, and with one schema or a list of them. */
const BY_NAME = /^(properties|patternProperties|dependentSchemas)$/
const WITH_SCHEMAS =
  /^(allOf|anyOf|oneOf|not|if|then|else|(prefixI|i|unevaluatedI)tems|contains|propertyNames|(additional|unevaluated)Properties)$/
/** Other keywords that validate or change a value. */
const KEPT =
  /^(enum|const|default|format|pattern|multipleOf|(m|exclusiveM)(ax|in)imum|(min|max)(Length|Items|Contains|Properties)|uniqueItems|required|dependentRequired|readOnly|writeOnly)$/
/** Keywords of JSON Schema 2020-12 and OpenAPI that do not. */
const WITHOUT_EFFECT =
  /^(title|description|examples?|deprecated|\$(comment|defs|schema)|content(Encoding|MediaType|Schema)|nullable|discriminator|xml|externalDocs|x-.*)$/

/** Whether an object has keywords that validate or change a value. The `required` of a parameter is none. */
export const hasKeywords = (node: object) =>
  Object.entries(node).some(
    ([key, value]) =>
      [BY_NAME, WITH_SCHEMAS, KEPT, /^type$/].some((names) => names.test(key)) &&
      !(key === 'required' && typeof value === 'boolean'),
  )

/** The document to compile, and what collects its schemas, faults and notes. */
export interface Context {
  readonly root: Oas3_1Definition
  readonly schemas: Schemas
  readonly findings: Findings
  /** What the product adds; undefined for a document of which no product is known. */
  readonly product: Extensions | undefined
}

/** The compiled schemas of a contract. Each gets an id, and `$ref` refers to these ids. */
export class Schemas {
  readonly all: Record<string, Schema> = {}
  /** Schemas with a default that is not filled in. */
  readonly withoutDefault = new Set<unknown>()
  readonly #ids = { json: new Map<unknown, string>(), form: new Map<unknown, string>() }
  readonly #nodes = new Map<string, unknown>()
  /** Schemas with a default, as they were written and compiled. */
  readonly #defaults: [written: SchemaObject, compiled: Record<string, unknown>][] = []
  /** The schemas of members, as they were compiled. */
  readonly #members: Schema[] = []
  #validators: Validators | undefined
  /** Fills in the defaults that are left. */
  #fillingIn: Validators | undefined
  readonly #findings: Findings
  readonly #formats: NonNullable<Extensions['formats']>

  /** @param formats of the product */
  constructor(findings: Findings, formats: Extensions['formats'] = {}) {
    this.#findings = findings
    this.#formats = formats
  }

  /** Adds a schema, and the schemas that it refers to. @param sentAs a form may have files @returns its id */
  add(schema: unknown, sentAs: 'json' | 'form' = 'json'): string {
    const target =
      Object.keys(schema ?? {}).join() === '$ref' ? resolveReference(schema) : undefined
    if (isSchema(target)) return this.add(target, sentAs)
    const ids = this.#ids[sentAs]
    const known = ids.get(schema)
    if (known !== undefined) return known
    const id = `${sentAs}-${ids.size}`
    ids.set(schema, id)
    this.#nodes.set(id, schema)
    this.all[id] = true // reserves the id before members get theirs
    if (isObject(schema))
      for (const { path, text } of metaFaults(schema)) this.#findings.refuse(schema, text, ...path)
    this.all[id] = this.#compile(schema, sentAs)
    return id
  }

  /** A schema as it is in the document, by its id. */
  nodeOf(id: string): unknown {
    return this.#nodes.get(id)
  }

  /** The check of a value. The schemas must be complete. If one has a fault, which has been reported, each value has it. */
  check(name: string, schema: Schema, validators = this.#validators): Check {
    validators ??= this.#validators = new Validators(this.all, 'response', this.#formats)
    return (value) => {
      try {
        return validators.compile(name, schema)(value)
      } catch (error) {
        return { fault: reasonOf(error) }
      }
    }
  }

  /** Removes each default that does not fit its schema, or fills in too much. The schemas must be complete. */
  checkDefaults(): void {
    for (const [written, compiled] of this.#defaults) {
      const isFitting = this.check('default', compiled)(compiled['default']).fault === undefined
      if (!isFitting) this.#leaveOut(written, compiled, 'does not fit its schema')
    }
    const values = this.#defaults.map(([, compiled]) => compiled)
    for (const member of [...values, ...this.#members]) this.#boundDefault(member)
  }

  /** Removes the default of a member until what is filled in with it is not too much. */
  #boundDefault(member: Schema): void {
    for (const part of jointSchemas(member, ({ $ref }) => this.all[String($ref)])) {
      if (part['default'] === undefined) continue
      this.#fillingIn ??= new Validators(this.all, 'request', this.#formats)
      const check = this.check('default', { properties: { x: member } }, this.#fillingIn)
      if (check({}).fault !== FILLS_IN_TOO_MUCH) return
      const [written, compiled] = this.#defaults.find(([, each]) => each === part) ?? []
      if (written && compiled) this.#leaveOut(written, compiled, FILLS_IN_TOO_MUCH)
    }
  }

  #leaveOut(written: SchemaObject, compiled: Record<string, unknown>, reason: string): void {
    this.#findings.note(written, `this default ${reason}: it is not filled in`, 'default')
    this.withoutDefault.add(written)
    delete compiled['default']
    this.#fillingIn = undefined // it has the default
  }

  /** Reports what is wrong with a schema. @returns its keywords that validate or change a value */
  #compile(schema: unknown, sentAs: 'json' | 'form'): Schema {
    if (!isObject(schema)) return schema !== false
    if (sentAs === 'form' && isFile(schema)) {
      const rule = bytesRule(schema)
      if (rule === undefined)
        this.#findings.refuse(
          schema,
          'a file of a form has minLength and maxLength in bytes, and no more',
        )
      return { type: 'file', ...rule }
    }
    const compiled: Record<string, unknown> = {}
    const compile = (one: unknown) => this.#compile(one, sentAs)
    for (const [key, value] of Object.entries(schema)) {
      const isOfProduct = key === 'format' && Object.hasOwn(this.#formats, String(value))
      const { how, text = '' } =
        (isOfProduct ? undefined : keywordFinding(key, schema, sentAs)) ?? {}
      if (how !== undefined) this.#findings[how](schema, text, key)
      if (how === 'refuse') continue
      if (key === '$ref') {
        const target = resolveReference<unknown>(schema)
        if (!isSchema(target)) this.#findings.refuse(schema, LEADS_NOWHERE, key)
        compiled[key] = this.add(target, sentAs)
      } else if (BY_NAME.test(key)) {
        const entries = Object.entries(value ?? {}).map(
          ([name, one]) => [name, compile(one)] as const,
        )
        compiled[key] = Object.fromEntries(entries)
        if (key === 'properties') this.#members.push(...entries.map(([, member]) => member))
      } else if (WITH_SCHEMAS.test(key))
        compiled[key] = Array.isArray(value) ? value.map(compile) : compile(value)
      else if (key === 'type')
        compiled[key] = schema['nullable'] === true ? declaredTypes(schema) : value
      // In OpenAPI 3.0, `exclusiveMinimum: true` made `minimum` exclusive.
      else if (/^m..imum$/.test(key) && schema[exclusive(key)] === true)
        compiled[exclusive(key)] = value
      else if (key.startsWith('exclusive') && typeof value === 'boolean') continue
      else if (KEPT.test(key)) compiled[key] = value
      else if (key === 'description' && ('pattern' in schema || 'not' in schema))
        compiled[key] = value
      else if (!WITHOUT_EFFECT.test(key))
        this.#findings.note(
          schema,
          `${key} is no keyword of JSON Schema 2020-12: it validates nothing`,
          key,
        )
    }
    if ('default' in compiled) this.#defaults.push([schema, compiled])
    return compiled
  }
}

const isSchema = (node: unknown) => isObject(node) || typeof node === 'boolean'
const exclusive = (key: string) => key.replace('m', 'exclusiveM')

/** Adds the schemas of the items that the product stores, for items.ts. @returns their ids, by name */
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
