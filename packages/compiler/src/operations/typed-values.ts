// Writes values as the types of the generated file take them: an int64 is a bigint, and an object has only described properties.
import {
  flattenedSchema,
  isInt64,
  isObject,
  type Keywords,
  type Schema,
} from '@plant-store/json-schema'
import { ownSchemas } from '../samples/property-schemas.ts'
import type { Schemas } from '../schemas/schemas.ts'

/** The schemas for one value that are one type: flattened, with the targets of references and `allOf`. */
type Group = readonly Keywords[]

export class TypedValues {
  readonly #schemas: Pick<Schemas, 'compiled' | 'fits'>

  constructor(schemas: Pick<Schemas, 'compiled' | 'fits'>) {
    this.#schemas = schemas
  }

  /** @param value valid by the schema */
  of(value: unknown, schema: Schema): unknown {
    return this.#write(value, [schema])
  }

  #write(value: unknown, schemas: readonly unknown[]): unknown {
    const groups = this.#groupsOf(value, schemas, new Set())
    const parts = groups.flat()
    if (typeof value === 'number' || typeof value === 'bigint') return numberOf(value, parts)
    if (Array.isArray(value))
      return value.map((item: unknown, index) => this.#write(item, itemSchemas(parts, index)))
    return isObject(value) ? this.#writeObject(value, groups) : value
  }

  #writeObject(value: Record<string, unknown>, groups: readonly Group[]): object {
    const parts = groups.flat()
    const isOpen = groups.some((group) => isOpenType(group, groups.length === 1))
    const names = new Set(parts.flatMap(namesIn))
    const typed = Object.entries(value)
      .filter(([name]) => isOpen || names.has(name))
      .map(([name, property]) => {
        const schemas = parts.flatMap((part) => ownSchemas({ ...part }, name))
        return [name, this.#write(property, schemas)] as const
      })
    return Object.fromEntries(typed)
  }

  /** The group of the schemas themselves, and those of the alternatives that the value fits. */
  #groupsOf(value: unknown, schemas: readonly unknown[], seen: Set<unknown>): Group[] {
    const group = schemas.flatMap((schema) => this.#flatten(schema))
    const alternatives = group
      .flatMap(({ anyOf = [], oneOf = [] }) => [...anyOf, ...oneOf])
      .filter((alternative) => !seen.has(alternative))
    for (const alternative of alternatives) seen.add(alternative)
    const fitting = alternatives.filter((alternative) => this.#schemas.fits(value, [alternative]))
    return [group, ...fitting.flatMap((schema) => this.#groupsOf(value, [schema], seen))]
  }

  #flatten(schema: unknown): Keywords[] {
    return flattenedSchema<Keywords>(schema, ({ $ref = '' }) => this.#schemas.compiled[$ref])
  }
}

function numberOf(value: number | bigint, parts: Group): number | bigint {
  if (!parts.some(isInt64)) return Number(value)
  return Number.isInteger(Number(value)) ? BigInt(value) : value
}

function itemSchemas(parts: Group, index: number): unknown[] {
  return parts.map(({ prefixItems, items, unevaluatedItems }) => {
    return prefixItems?.[index] ?? items ?? unevaluatedItems
  })
}

/** The names that a type has: of properties, also of those under conditions. */
function namesIn({ properties, required, ...rules }: Keywords): string[] {
  const conditional = [
    rules.if,
    rules.then,
    rules.else,
    ...Object.values(rules.dependentSchemas ?? {}),
  ]
  const inner = conditional.filter(isObject).flatMap(namesIn)
  return [...Object.keys(properties ?? {}), ...(required ?? []), ...inner]
}

/** Whether a type has an index, for properties of any name. @param isOnly whether no alternative is beside it */
function isOpenType(group: Group, isOnly: boolean): boolean {
  if (group.some(hasIndex)) return true
  if (group.some(isClosed) || group.some((part) => namesIn(part).length > 0)) return false
  return isOnly || group.some(({ type }) => [type].flat().includes('object'))
}

const hasIndex = ({ patternProperties, ...rest }: Keywords) =>
  Object.keys(patternProperties ?? {}).length > 0 ||
  [rest.additionalProperties, rest.unevaluatedProperties].some((rule) => (rule ?? false) !== false)

const isClosed = ({ additionalProperties, unevaluatedProperties }: Keywords) =>
  additionalProperties === false || unevaluatedProperties === false
