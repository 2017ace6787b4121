// Removes no-op fields, each with a warning. Authors write `parameters:` in YAML and leave it empty, or `required: true` in the
// schema of a property.
import { isObject } from '@plant-store/json-schema'
import type { Finding } from '../sentences/sentences.ts'
import type { Diagnostics } from './diagnostics.ts'
import { type File, tokenOf } from './source-locations.ts'

/** The kind of an object by its keys: fields of OpenAPI, keywords of a schema, names of objects or schemas, or security schemes. */
export type ObjectKind = 'fields' | 'keywords' | 'named' | 'schemas' | 'schemes'

/** Keys with values of the API, where null is a value. An empty `type` may mean the type null. */
const VALUES = /^(example|examples|default|const|enum|value|type|x-.*)$/
/** Keys of objects with schemas by name. */
const SCHEMAS = /^(schemas|properties|patternProperties|dependentSchemas|definitions|\$defs)$/
/** Keys of objects with other objects by name. */
const NAMED = /^(paths|pathItems|responses|content|headers|requestBodies|securitySchemes|encoding)$/
/** Keys of a schema, or of a list of schemas. */
const SCHEMA = /^(schema|items|prefixItems|additionalProperties|allOf|anyOf|oneOf|not)$/

/** Removes the no-op fields of a file. An empty object by name stays, as `{}`. */
export function removeNoOpFields(file: File, diagnostics: Diagnostics): void {
  const visited = new Set<unknown>()
  const visit = (node: unknown, pointer: string, kind: ObjectKind): void => {
    if (typeof node !== 'object' || node === null || visited.has(node)) return
    visited.add(node)
    for (const [name, child] of Object.entries(node)) {
      if (isValue(name, kind)) continue
      const place = pointer + tokenOf(name)
      const warning = warningOf(name, child, kind)
      const isItem = Array.isArray(node)
      if (warning === undefined)
        visit(child, place, isItem ? kind : objectKindOf(name, child, kind))
      else if (isObject(node)) {
        diagnostics.add({ file, pointer: place }, warning, false)
        remove(node, name, kind)
      }
    }
  }
  visit(file.parsed, '#', 'fields')
}

/** Whether a key has a value of the API, or is an extension. */
export function isValue(name: string, kind: ObjectKind): boolean {
  if (kind === 'schemes') return false
  const hasNames = kind === 'named' || kind === 'schemas'
  return hasNames ? name.startsWith('x-') : VALUES.test(name)
}

function warningOf(name: string, value: unknown, kind: ObjectKind): Finding | undefined {
  const isUnnamed = kind === 'fields' && name === 'operationId' && value === ''
  if (value === null || isUnnamed) return { code: 'field-empty' }
  const isNoOp = kind === 'keywords' && name === 'required' && typeof value === 'boolean'
  return isNoOp ? { code: 'required-misplaced' } : undefined
}

/** The kind of the object at a key. */
export function objectKindOf(name: string, value: unknown, kind: ObjectKind): ObjectKind {
  if (kind === 'schemas') return 'keywords'
  if (kind === 'named' || kind === 'schemes') return 'fields'
  if (SCHEMA.test(name)) return 'keywords'
  if (name === 'security') return 'schemes'
  if (Array.isArray(value)) return kind
  if (SCHEMAS.test(name)) return 'schemas'
  return NAMED.test(name) ? 'named' : 'fields'
}

function remove(node: object, name: string, kind: ObjectKind): void {
  if (kind === 'fields' || kind === 'keywords') Reflect.deleteProperty(node, name)
  else Reflect.set(node, name, kind === 'schemes' ? [] : {})
}
