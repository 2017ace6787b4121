// Finds the types of the properties in indexes of collections, by the schemas of the contract.
import {
  allowedTypes,
  alternativesOf,
  flattenedSchema,
  isInt64,
  isObject,
  type SchemaObject,
} from '@plant-store/json-schema'
import type { Compiled } from './compiled.ts'
import { StartupError } from '../errors.ts'
import type { IndexDefinition } from '../index-types.ts'
import type { DefinedCollection, DefinedCollections } from './product-hooks.ts'
import type { IndexedProperty, IndexType, StoredIndex } from '../store.ts'

type ItemSchemas = Pick<Compiled, 'items' | 'schemas'>

/** An index that does not fit the schema of its collection. */
export interface IndexFault {
  readonly collection: string
  readonly index: string
  readonly fault: string
}

/** Indexes with the types of their values, and the faults of the others. */
interface ReadIndexes {
  readonly indexes: readonly StoredIndex[]
  readonly faults: readonly IndexFault[]
}

/** In properties. */
const MAX_PROPERTIES = 8
/** The types of values in an index, by those in a schema. */
const TYPES: Readonly<Record<string, IndexType>> = {
  string: 'string',
  int64: 'int64',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
}

/** The indexes of a collection. @throws {StartupError} if one does not fit the contract */
export function storedIndexes(
  contract: ItemSchemas,
  name: string,
  collection: DefinedCollection,
): readonly StoredIndex[] {
  const { indexes, faults } = readIndexes(contract, name, collection)
  if (faults.length > 0) throw new StartupError(faults.map(describeFault).join('\n'))
  return indexes
}

/** The indexes that do not fit the contract. */
export function faultyIndexes(
  contract: ItemSchemas,
  collections: DefinedCollections,
): readonly IndexFault[] {
  return Object.entries(collections).flatMap(
    ([name, collection]) => readIndexes(contract, name, collection).faults,
  )
}

export function describeFault({ collection, index, fault }: IndexFault): string {
  return `the index ${index} of the collection ${collection}: ${fault}`
}

/** A collection whose schema is missing has no indexes: the schema is reported. */
function readIndexes(
  contract: ItemSchemas,
  collection: string,
  { schema, indexes: definitions = {} }: DefinedCollection,
): ReadIndexes {
  const indexes: StoredIndex[] = []
  const faults: IndexFault[] = []
  if (!Object.hasOwn(contract.items, schema)) return { indexes, faults }
  for (const [name, definition] of Object.entries(definitions)) {
    const { on, unique = false } = toObject(definition)
    const properties = on.map((path) => readProperty(contract, schema, path))
    const [fault = faultOfLength(on)] = properties.filter((read) => typeof read === 'string')
    if (fault !== undefined) faults.push({ collection, index: name, fault })
    const stored = properties.filter((read) => typeof read !== 'string')
    indexes.push({ name, isUnique: unique, properties: stored })
  }
  return { indexes, faults }
}

function toObject(definition: IndexDefinition): Exclude<IndexDefinition, readonly string[]> {
  return 'on' in definition ? definition : { on: definition }
}

function faultOfLength({ length }: readonly string[]): string | undefined {
  if (length >= 1 && length <= MAX_PROPERTIES) return undefined
  return `it has ${length} properties, and may have 1 to ${MAX_PROPERTIES}`
}

/** @returns the fault of a property that can't be in an index */
function readProperty(
  contract: ItemSchemas,
  schema: string,
  name: string,
): IndexedProperty | string {
  const path = name.split('.')
  const types = typesAt(contract, { $ref: contract.items[schema] ?? '' }, path)
  if (types.length === 0) return `the schema ${schema} has no property ${name}`
  const [type, ...others] = new Set(types.map((type) => TYPES[type]))
  if (type !== undefined && others.length === 0) return { path, type }
  const described = [...new Set(types)].join(' or ')
  return `${name} of the schema ${schema} is ${described}, and must be a string, an integer of up to 64 bits, a number or a boolean`
}

/** The types of a property except null, in all alternatives of its schema; none if there is no such property. */
function typesAt({ schemas }: ItemSchemas, whole: SchemaObject, path: readonly string[]): string[] {
  const flatten = (schema: unknown) =>
    flattenedSchema<SchemaObject>(schema, ({ $ref }) => schemas[String($ref)])
  let nodes: unknown[] = [whole]
  for (const name of path)
    nodes = nodes.flatMap((node) =>
      alternativesOf(node, flatten).flatMap((alternative) => {
        const described = flatten(alternative).flatMap((part) => propertyOf(part, name))
        return described.length === 0 ? [] : { allOf: described }
      }),
    )
  const alternatives = nodes.flatMap((node) => alternativesOf(node, flatten))
  return alternatives.flatMap((alternative) => {
    const { format } = flatten(alternative).find(isInt64) ?? {}
    const types = allowedTypes(alternative, flatten).filter((type) => type !== 'null')
    return types.map((type) => (isNumeric(type) && typeof format === 'string' ? format : type))
  })
}

function isNumeric(type: string): boolean {
  return type === 'integer' || type === 'number'
}

function propertyOf({ properties }: SchemaObject, name: string): unknown[] {
  return isObject(properties) && Object.hasOwn(properties, name) ? [properties[name]] : []
}
