// Members that say nothing where they stand: they are read as if they were not there, each with a note. Authors write
// `parameters:` in YAML and leave it empty, or `required: true` in the schema of a member.
import { isObject } from '@plant-store/json-schema'
import type { Diagnostics } from './diagnostics.ts'
import { type File, tokenOf } from './source-locations.ts'

/** What the members of an object are: fields of OpenAPI, keywords of a schema, things by name, or security schemes. */
export type Kind = 'fields' | 'keywords' | 'named' | 'schemas' | 'schemes'

/** The members that are values of the API: there null is a value. An empty `type` may be meant as the type null. */
const VALUES = /^(example|examples|default|const|enum|value|type|x-.*)$/
/** The members whose own members are schemas by name, or other things by name. */
const SCHEMAS = /^(schemas|properties|patternProperties|dependentSchemas|definitions|\$defs)$/
const NAMED = /^(paths|pathItems|responses|content|headers|requestBodies|securitySchemes|encoding)$/
/** The members that are a schema, or a list of schemas. */
const SCHEMA = /^(schema|items|prefixItems|additionalProperties|allOf|anyOf|oneOf|not)$/

const EMPTY = 'this is empty: it is as if it were not there'
const REQUIRED =
  'required says nothing here: it is a list of names, in the object that has the member'

/** Removes the members of a file that say nothing. Of things by name, an empty one is one of which nothing is said. */
export function removeIdleMembers(file: File, diagnostics: Diagnostics): void {
  const visited = new Set<unknown>()
  const visit = (node: unknown, pointer: string, kind: Kind): void => {
    if (typeof node !== 'object' || node === null || visited.has(node)) return
    visited.add(node)
    for (const [name, child] of Object.entries(node)) {
      if (isValue(name, kind)) continue
      const place = pointer + tokenOf(name)
      const note = noteOf(name, child, kind)
      const isItem = Array.isArray(node)
      if (note === undefined) visit(child, place, isItem ? kind : kindOf(name, child, kind))
      else if (isObject(node)) {
        diagnostics.add({ file, pointer: place }, note, false)
        remove(node, name, kind)
      }
    }
  }
  visit(file.parsed, '#', 'fields')
}

/** Whether a member is a value of the API, or an extension. */
export function isValue(name: string, kind: Kind): boolean {
  if (kind === 'schemes') return false
  const hasNames = kind === 'named' || kind === 'schemas'
  return hasNames ? name.startsWith('x-') : VALUES.test(name)
}

/** The note about a member that says nothing. */
function noteOf(name: string, value: unknown, kind: Kind): string | undefined {
  if (value === null) return EMPTY
  const isIdle = kind === 'keywords' && name === 'required' && typeof value === 'boolean'
  return isIdle ? REQUIRED : undefined
}

/** What the members of a member are. */
export function kindOf(name: string, value: unknown, kind: Kind): Kind {
  if (kind === 'schemas') return 'keywords'
  if (kind === 'named' || kind === 'schemes') return 'fields'
  if (SCHEMA.test(name)) return 'keywords'
  if (name === 'security') return 'schemes'
  if (Array.isArray(value)) return kind
  if (SCHEMAS.test(name)) return 'schemas'
  return NAMED.test(name) ? 'named' : 'fields'
}

function remove(node: object, name: string, kind: Kind): void {
  if (kind === 'fields' || kind === 'keywords') Reflect.deleteProperty(node, name)
  else Reflect.set(node, name, kind === 'schemes' ? [] : {})
}
