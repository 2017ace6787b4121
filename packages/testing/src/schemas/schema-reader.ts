// Reads the schemas of a contract, for one of the two sides.
import { RANGES } from '@plant-store/compiler/for-testing'
import { targetOf } from '../document/document.ts'
import { fields, isObject } from '../json/fields.ts'
import { stringify } from '../json/json.ts'
import {
  addTarget,
  isMarkedUndecided,
  listOf,
  markUndecided,
  nameTarget,
  type Schema,
} from './schemas.ts'

/** The keywords with lists of schemas, with schemas by name, and with one schema. */
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems']
const MAPS = ['properties', 'patternProperties', 'dependentSchemas']
const SINGLE = [
  ...['items', 'contains', 'unevaluatedItems', 'additionalProperties', 'unevaluatedProperties'],
  ...['propertyNames', 'not', 'if', 'then', 'else'],
]
/** Those with schemas for the value itself, not for its parts. */
const IN_PLACE = /^(allOf|anyOf|oneOf|dependentSchemas|then|else)$/
/** Those with schemas which a valid value need not fit. */
const CONDITIONS = /^(not|if)$/
/** Those which are a rule for Ajv if they are `false`. */
const CLOSED = /^(additionalProperties|unevaluated(Properties|Items))$/
/** The keywords taken over unchanged. */
const KEPT =
  /^(enum|const|format|pattern|multipleOf|(min|max)(Length|Items|Contains|Properties)|uniqueItems|required|dependentRequired|examples|default|content(MediaType|Encoding))$/

/** A property which only the other side sends. */
export type Mark = 'readOnly' | 'writeOnly'

/**
 * Makes the reader of a contract's schemas. A reference is followed once, also if it leads back to itself.
 * Its parameters are a schema of the contract, and the mark of hidden properties: `readOnly` in a request, `writeOnly` in
 * an answer.
 */
export function schemaReader(root: unknown): (node: unknown, mark?: Mark) => Schema {
  const ids = new Map<string, string>()
  return (node, mark) => {
    const read = readWithout(root, mark, ids)
    const schema = read(node === false ? { not: {} } : node, [])
    return isObject(schema) ? schema : {}
  }
}

/** The hidden properties of a value, which are not required; null where it need not be valid. */
type Hidden = readonly string[] | null

function readWithout(root: unknown, mark: Mark | undefined, ids: Map<string, string>) {
  return read

  function read(node: unknown, hidden: Hidden): unknown {
    if (!isObject(node)) return node
    const names = hidden && [...new Set([...hidden, ...hiddenIn(node)])].sort()
    const { $ref, ...rest } = node
    const entries = Object.entries(rest).flatMap(([key, value]) => readKeyword(key, value, names))
    const own: Record<string, unknown> = Object.fromEntries(entries)
    const schema = { ...own, ...bounds(node), ...types(node) }
    if ('example' in node) schema['examples'] = [node['example']]
    if (listOf(schema['types']).includes(schema['format'])) delete schema['format']
    if (names && 'required' in schema)
      schema['required'] = listOf(schema['required']).filter(
        (name) => !names.includes(String(name)),
      )
    const complete = typeof $ref === 'string' ? { ...schema, $ref: refer($ref, names) } : schema
    if (names && listOf(node['oneOf']).some((option) => requires(option, names)))
      markUndecided(complete)
    return complete
  }

  /** Whether a schema, or an alternative in it, requires a hidden property. */
  function requires(node: unknown, hidden: readonly string[], seen = new Set<unknown>()): boolean {
    if (seen.has(node)) return false
    seen.add(node)
    const names = [...hidden, ...hiddenIn(node)]
    return joint(node).some(({ required, anyOf, oneOf }) => {
      const isOwn = listOf(required).some((name) => names.includes(String(name)))
      const options = [...listOf(anyOf), ...listOf(oneOf)]
      return isOwn || options.some((option) => requires(option, names, seen))
    })
  }

  function readKeyword(key: string, value: unknown, names: Hidden): [string, unknown][] {
    const isOfPart = !IN_PLACE.test(key) && !CONDITIONS.test(key)
    const inner = hiddenBelow(key, names)
    const readOne = (node: unknown) => {
      const isHidden = isOfPart && isMarked(node)
      return isHidden || (node === false && !CLOSED.test(key)) ? { not: {} } : read(node, inner)
    }
    if (LISTS.includes(key)) return [[key, listOf(value).map(readOne)]]
    if (SINGLE.includes(key)) return [[key, readOne(value)]]
    if (!MAPS.includes(key)) return KEPT.test(key) ? [[key, value]] : []
    const members = Object.entries(fields(value)).map(([name, node]) => [name, readOne(node)])
    return [[key, Object.fromEntries(members)]]
  }

  /** The hidden properties in the schemas of a keyword. */
  function hiddenBelow(key: string, names: Hidden): Hidden {
    if (IN_PLACE.test(key)) return names
    const needNotFit = names === null || CONDITIONS.test(key)
    return needNotFit ? null : []
  }

  /** The id of a reference's target. */
  function refer(reference: string, hidden: Hidden): string {
    const key = stringify([reference, mark, hidden])
    const earlier = ids.get(key)
    if (earlier !== undefined) return earlier
    const schema: Record<string, unknown> = {}
    const id = nameTarget(schema)
    ids.set(key, id)
    const target = targetOf(root, reference)
    const complete = target === false ? { not: {} } : read(target, hidden)
    Object.assign(schema, complete)
    if (isObject(complete) && isMarkedUndecided(complete)) markUndecided(schema)
    addTarget(schema, id)
    return id
  }

  /** The names of marked properties. */
  function hiddenIn(node: unknown): string[] {
    const members = joint(node).flatMap(({ properties }) => Object.entries(fields(properties)))
    return members.flatMap(([name, member]) => (isMarked(member) ? [name] : []))
  }

  function isMarked(node: unknown): boolean {
    return mark !== undefined && joint(node).some((part) => part[mark] === true)
  }

  /** A schema of the contract, the target of its reference, and their `allOf`. */
  function joint(node: unknown, seen = new Set<unknown>()): Record<string, unknown>[] {
    if (!isObject(node) || seen.has(node)) return []
    seen.add(node)
    const { $ref, allOf } = node
    const target = typeof $ref === 'string' ? targetOf(root, $ref) : undefined
    return [node, ...[target, ...listOf(allOf)].flatMap((part) => joint(part, seen))]
  }
}

/** `type` with null where the schema is `nullable` as in OpenAPI 3.0, and with the formats of integers. */
function types({ type, format, nullable }: Record<string, unknown>): Record<string, unknown> {
  const types = [type ?? []].flat().map(String)
  if (types.length === 0) return {}
  const whole = types.includes('integer') ? 'integer' : 'number'
  const isFormat = typeof format === 'string' && format !== 'integer' && format in RANGES
  const exact = types.map((name) => (name === whole && isFormat ? format : name))
  return { types: nullable === true ? [...new Set([...exact, 'null'])] : exact }
}

/** The bounds of numbers: in OpenAPI 3.0 `exclusiveMinimum: true` made `minimum` exclusive. */
function bounds(node: Record<string, unknown>): Record<string, unknown> {
  const pairs = (['minimum', 'maximum'] as const).map((key) => {
    const exclusive = key.replace('m', 'exclusiveM')
    const [bound, exclusiveBound] = [node[key], node[exclusive]]
    if (exclusiveBound === true) return { [exclusive]: bound }
    return { [key]: bound, [exclusive]: exclusiveBound === false ? undefined : exclusiveBound }
  })
  const entries = Object.entries(Object.assign({}, ...pairs) as object)
  return Object.fromEntries(entries.filter(([, bound]) => bound !== undefined))
}
