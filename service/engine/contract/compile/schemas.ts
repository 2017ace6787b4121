// Compiles the schemas of a contract for validation.ts, and refuses everything that it can't validate as described.
import type { Oas3_1Definition } from '@redocly/openapi-core'
import type { Schema } from '../compiled.ts'
import type { Extensions } from '../extensions.ts'
import { Findings } from './findings.ts'
import { compileKeyword, CONDITIONS, numberRule, SAME_VALUE } from './keywords.ts'
import { LEADS_NOWHERE, resolveReference } from './references.ts'
import { keywordFault, keywordNote, metaFaults } from './refusals.ts'
import {
  allMembers,
  allParts,
  bytesRule,
  declaredTypes,
  isFile,
  type Part,
  partWith,
  type Use,
  valuesAt,
} from './shapes.ts'
import { isObject } from '../assertions.ts'
import { type Check, Validators } from '../validation.ts'
import { reasonOf } from '../../errors.ts'
import { exactJson } from '../../http/json.ts'

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
  /** Defaults that must fit a schema. */
  readonly #defaults: { part: Part; schema: Schema; leaveOut: () => void }[] = []
  #validators: Validators | undefined
  /** The schemas of files in forms. */
  readonly #files = new Set<object>()
  readonly #ids = new Map<string, Map<unknown, string>>()
  #count = 0
  /** Members of the document that the types must not have, or with another value: what is not served as it is written. */
  readonly idle: [node: object, key: string, value?: unknown][] = []
  readonly #findings: Findings
  readonly #formats: NonNullable<Extensions['formats']>

  /** @param formats of the product */
  constructor(findings: Findings, formats: Extensions['formats'] = {}) {
    this.#findings = findings
    this.#formats = formats
  }

  /** Adds a schema, and the schemas that it refers to. @param isCondition whether it is below `not` or `if` @returns its id */
  add(schema: unknown, use: Use, isCondition = false): string {
    const target = Object.keys(schema ?? {}).join() === '$ref' ? resolveReference(schema) : undefined
    if (isSchema(target)) return this.add(target, use, isCondition)
    const place = isCondition ? `${use} below not or if` : use
    const ids = this.#ids.get(place) ?? new Map<unknown, string>()
    const known = ids.get(schema)
    if (known !== undefined) return known
    const id = `${use}-${this.#count++}`
    this.#ids.set(place, ids.set(schema, id))
    this.all[id] = true // reserves the id before members get theirs
    if (isObject(schema)) for (const { path, text } of metaFaults(schema)) this.#findings.refuse(schema, text, ...path)
    this.all[id] = this.#convert(schema, use, isCondition ? null : undefined)
    return id
  }

  /** The id of a schema that has been added for requests or responses. */
  find(schema: unknown): string | undefined {
    return this.#ids.get('request')?.get(schema) ?? this.#ids.get('response')?.get(schema)
  }

  /**
   * Adds the schema of a parameter or a member that may be absent.
   * @param leaveOut is called if the default does not fit its schema
   * @returns the JSON of its default, if it has one
   */
  addDefault(schema: unknown, converted: Schema, leaveOut: () => void): string | undefined {
    const part = partWith(schema, 'default')
    if (part === undefined) return undefined
    this.#defaults.push({ part, schema: converted, leaveOut })
    return exactJson(part['default'])
  }

  /** The check of a value. The schemas must be complete. What is wrong with the schema itself has been reported. */
  check(name: string, schema: Schema): Check {
    const validators = (this.#validators ??= new Validators(this.all, 'response', this.#formats))
    return (value) => {
      try {
        return validators.compile(name, schema)(value)
      } catch (error) {
        return { fault: reasonOf(error) }
      }
    }
  }

  /** Reports each default that does not fit its schema. The schemas must be complete. */
  checkDefaults(): void {
    for (const { part, schema, leaveOut } of this.#defaults) {
      if (this.check('default', schema)(part['default']).fault === undefined) continue
      this.#findings.note(part, 'this default does not fit its schema: it is not filled in', 'default')
      this.idle.push([part, 'default'])
      leaveOut()
    }
    const texts = new Set(this.idle.map(([node]) => node))
    for (const each of this.#files)
      this.idle.push([each, 'type', 'string'], [each, 'format', texts.has(each) ? 'file or text' : 'binary'])
  }

  /** @param parts all schemas that are about the same value; null where members count that only the other side sends */
  #convert(schema: unknown, use: Use, parts: readonly Part[] | null = allParts(schema)): Schema {
    if (!isObject(schema)) return schema !== false
    if (use === 'form' && isFile(schema)) {
      for (const each of allParts(schema)) this.#files.add(each)
      const rule = bytesRule(schema)
      if (rule === undefined)
        this.#findings.refuse(schema, 'a file of a form has minLength and maxLength in bytes, and no more')
      return { file: rule ?? {} }
    }
    const converted: Record<string, unknown> = {}
    for (const key of Object.keys(schema)) {
      const fault = keywordFault(key, schema, use)
      if (fault !== undefined) {
        this.#findings.refuse(schema, fault, key)
        continue
      }
      const isOfProduct = key === 'format' && Object.hasOwn(this.#formats, String(schema[key]))
      const note = isOfProduct ? undefined : keywordNote(key, schema, use)
      if (note !== undefined) this.#findings.note(schema, note, key)
      if (isIdle(key, schema, use)) this.idle.push([schema, key])
      const convert = (one: unknown) => {
        const idle = use === 'request' && CHOICES.test(key) ? partWith(one, 'default') : undefined
        if (idle)
          this.#findings.note(idle, `a default below ${key} is not filled in: write it beside ${key}`, 'default')
        if (parts === null || CONDITIONS.test(key)) return this.#convert(one, use, null)
        return this.#convert(one, use, SAME_VALUE.test(key) ? [...parts, ...allParts(one)] : undefined)
      }
      if (key === '$ref') {
        const target = resolveReference<unknown>(schema)
        if (!isSchema(target)) this.#findings.refuse(schema, LEADS_NOWHERE, key)
        converted[key] = this.add(target, use, parts === null)
      } else if (key === 'properties') Object.assign(converted, this.#membersOf(schema, use, convert))
      else if (key === 'required') {
        const isKept = (name: unknown) => parts === null || !isHidden(allMembers(parts).get(String(name)), use)
        converted[key] = valuesAt(schema, key).filter(isKept)
      } else converted[key] = compileKeyword(key, schema, convert)
    }
    if (schema[MARKS[use]] === true) converted['hidden'] = true
    return { ...converted, ...numberRule(schema) }
  }

  /** The schemas of members, and the defaults of those that may be absent from a request. */
  #membersOf(schema: Part, use: Use, convert: (schema: unknown) => Schema) {
    const defaults: Record<string, string> = {}
    const properties = [...allMembers([schema])].map(([name, each]): [string, Schema] => {
      const member = convert(each)
      const isAbsent = use === 'response' || isHidden(each, use) || valuesAt(schema, 'required').includes(name)
      const text = isAbsent ? undefined : this.addDefault(each, member, () => Reflect.deleteProperty(defaults, name))
      if (text !== undefined) defaults[name] = text
      return [name, member]
    })
    return { properties: Object.fromEntries(properties), ...(Object.keys(defaults).length > 0 && { defaults }) }
  }
}

const isSchema = (node: unknown) => isObject(node) || typeof node === 'boolean'

const CHOICES = /^(anyOf|oneOf|then|else|not|if)$/

/** Whether a keyword would make a type of what it does not say: null without a type, a file of a text. */
function isIdle(key: string, schema: Part, use: Use): boolean {
  if (key === 'nullable') return declaredTypes(schema).length === 0
  return use !== 'form' && key === 'format' && schema[key] === 'binary'
}

/** OpenAPI 3.1.0, section 4.8.24.1: `readOnly` members are for responses only, `writeOnly` ones for requests only. */
const MARKS = { request: 'readOnly', form: 'readOnly', response: 'writeOnly' } as const

function isHidden(schema: unknown, use: Use): boolean {
  return partWith(schema, MARKS[use])?.[MARKS[use]] === true
}

/** Adds the schemas of `components/schemas` in which there is an int64, for items.ts. @returns their ids, by name */
export function readItems({ components }: Oas3_1Definition, schemas: Schemas): Readonly<Record<string, string>> {
  const all = Object.entries(components?.schemas ?? {})
  const tried = new Schemas(new Findings())
  const found = all.filter(([, schema]) => hasInt64(tried.all, tried.add(schema, 'response')))
  return Object.fromEntries(
    found.map(([name, schema]) => [name, schemas.find(schema) ?? schemas.add(schema, 'response')]),
  )
}

/** Whether there is an int64 in a schema, or in those that it refers to. */
function hasInt64(all: Readonly<Record<string, Schema>>, id: string, seen = new Set<string>()): boolean {
  if (seen.has(id)) return false
  seen.add(id)
  const text = JSON.stringify(all[id])
  const others = Array.from(text.matchAll(/"\$ref":"(.*?)"/g), ([, other = '']) => other)
  return /"types":\[[^\]]*"int64"/.test(text) || others.some((each) => hasInt64(all, each, seen))
}
