// Compiles the schemas of a contract for validation.ts, and refuses everything that it can't validate as described.
import type { Oas3_1Definition } from '@redocly/openapi-core'
import type { Schema } from '../compiled.ts'
import { CHOICES, compileKeyword, keywordFault, numberRule, SAME_VALUE, type Use } from './keywords.ts'
import { LEADS_NOWHERE, resolveReference } from './references.ts'
import { allMembers, allParts, isFile, type Part, partWith, valuesAt } from './shapes.ts'
import { describeFault, isObject, type Validate, Validators } from '../validation.ts'
import { exactJson } from '../../http/json.ts'

/** Reports a fault of an object in the document, or of its member `key`. The text says what to write instead. */
export type Refuse = (node: object, fault: string, key?: string) => void

/** The document to compile, and the collectors of its schemas and its faults. */
export interface Context {
  readonly root: Oas3_1Definition
  readonly schemas: Schemas
  readonly refuse: Refuse
}

/** The compiled schemas of a contract. Each gets an id, and `$ref` refers to these ids. */
export class Schemas {
  readonly all: Record<string, Schema> = {}
  /** Values that must fit a schema, each with the place and the text of the fault. */
  readonly #values: { value: unknown; schema: Schema; node: object; key: string; fault: string | undefined }[] = []
  readonly #ids = new Map<string, Map<unknown, string>>()
  readonly #refuse: Refuse

  constructor(refuse: Refuse) {
    this.#refuse = refuse
  }

  /** Adds a schema, and the schemas that it refers to. @returns its id */
  add(schema: unknown, use: Use): string {
    const ids = this.#ids.get(use) ?? new Map<unknown, string>()
    const known = ids.get(schema)
    if (known !== undefined) return known
    const id = `${use}-${Object.keys(this.all).length}`
    this.#ids.set(use, ids.set(schema, id))
    this.all[id] = true // reserves the id before members get theirs
    this.all[id] = this.#convert(schema, use)
    return id
  }

  /** Adds the schema of a parameter or a member that may be absent. @returns the JSON of its default, if it has one */
  addDefault(schema: unknown, converted: Schema, use: Use): string | undefined {
    const part = partWith(schema, 'default')
    if (part === undefined) return undefined
    if (use === 'choice')
      this.#refuse(part, 'a default below anyOf, oneOf, not or if is not served: write it beside', 'default')
    this.addValue(part['default'], converted, part, 'default')
    return exactJson(part['default'])
  }

  /** Adds a value that must fit a schema. @param fault what to report if it does not; by default, what is wrong with it */
  addValue(value: unknown, schema: Schema, node: object, key: string, fault?: string): void {
    this.#values.push({ value, schema, node, key, fault })
  }

  /** Refuses each value that does not fit its schema. The schemas must be complete, and without faults. */
  checkValues(): void {
    const validators = new Validators(this.all, true)
    const known = new Map<string, Validate>() // many errors have the same schema
    for (const { value, schema, node, key, fault } of this.#values) {
      const id = JSON.stringify([key, schema])
      let validate = known.get(id)
      if (validate === undefined) known.set(id, (validate = validators.compile(key, schema)))
      if (!validate({ [key]: value })) this.#refuse(node, fault ?? describeFault(validate), key)
    }
  }

  /** @param parts all schemas that are about the same value */
  #convert(schema: unknown, use: Use, parts = allParts(schema)): Schema {
    if (!isObject(schema)) return schema !== false
    if (use === 'form' && isFile(schema)) return { file: true }
    const converted: Record<string, unknown> = {}
    for (const key of Object.keys(schema)) {
      const fault = keywordFault(key, schema, use)
      if (fault !== undefined) this.#refuse(schema, fault, key)
      const nested = use !== 'response' && CHOICES.test(key) ? 'choice' : use
      const convert = (one: unknown) =>
        this.#convert(one, nested, SAME_VALUE.test(key) ? [...parts, ...allParts(one)] : undefined)
      if (key === '$ref') {
        const target = resolveReference<unknown>(schema)
        if (target === undefined) this.#refuse(schema, LEADS_NOWHERE, key)
        converted[key] = this.add(target, use)
      } else if (key === 'properties') this.#addMembers(converted, schema, use)
      else if (key === 'required')
        converted[key] = valuesAt(schema, key).filter((name) => isSent(allMembers(parts).get(String(name)), use))
      else converted[key] = compileKeyword(key, schema, convert)
    }
    return { ...converted, ...numberRule(schema) }
  }

  /** Adds the schemas of members. Requests must not have `readOnly` members; responses lose their `writeOnly` members. */
  #addMembers(converted: Record<string, unknown>, schema: Part, use: Use): void {
    const properties: Record<string, Schema> = {}
    const filled: Record<string, string> = {}
    const removed: string[] = []
    for (const [name, each] of allMembers([schema])) {
      if (!isSent(each, use)) {
        if (use === 'response') removed.push(name)
        else properties[name] = { notSent: true }
        continue
      }
      const member = this.#convert(each, use)
      properties[name] = member
      const isOptional = use !== 'response' && !valuesAt(schema, 'required').includes(name)
      const text = isOptional ? this.addDefault(each, member, use) : undefined
      if (text !== undefined) filled[name] = text
    }
    Object.assign(converted, { properties })
    if (Object.keys(filled).length > 0) Object.assign(converted, { filled })
    if (removed.length > 0) Object.assign(converted, { removed })
  }
}

/** OpenAPI 3.1.0, section 4.8.24.1: `readOnly` members are for responses only, `writeOnly` ones for requests only. */
function isSent(schema: unknown, use: Use): boolean {
  const mark = use === 'response' ? 'writeOnly' : 'readOnly'
  return partWith(schema, mark)?.[mark] !== true
}
