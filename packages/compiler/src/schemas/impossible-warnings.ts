// Warns of schemas no value can fit: they would refuse every request, or turn every answer into a 500.
import type { Operation } from '@plant-store/engine/for-compiler'
import { type Keywords, reachable, type Schema } from '@plant-store/json-schema'
import { type Direction, ImpossibleSchemas, type ContractSchemas } from './impossible-schemas.ts'
import { valueAt } from './impossible-properties.ts'
import { hasNoKeywords } from './impossible-types.ts'
import type { Compilation } from './schemas.ts'

type Resolve = ContractSchemas['resolve']

/** Warns of impossible schemas of operations, each at the innermost one. */
export function warnOfImpossible(
  { schemas, diagnostics }: Pick<Compilation, 'schemas' | 'diagnostics'>,
  operations: readonly Operation[],
): void {
  if (schemas.hasInvalid) return // reported as an error
  const resolve: Resolve = ({ $ref }) => ($ref === undefined ? undefined : schemas.compiled[$ref])
  const warn = (direction: Direction, described: unknown) => {
    const fits = schemas.fits.bind(schemas)
    const impossible = new ImpossibleSchemas({ resolve, fits, direction })
    const ids = reachable(described, () => undefined).filter((node) => typeof node === 'string')
    const roots = ids.flatMap((id) => schemas.compiled[id] ?? [])
    const inner = innerSchemas(roots, resolve).filter((schema) => !isReference(schema))
    for (const schema of inner) {
      const fault = impossible.faultOf(schema)
      const written = schemas.writtenOf(schema)
      if (fault === undefined || written === undefined || isEmptyByIntent(schema)) continue
      const causes = essentialSubschemas(schema, resolve).filter(
        (subschema) => !isEmptyByIntent(subschema),
      )
      const isCaused = causes
        .filter((subschema) => impossible.faultOf(subschema) !== undefined)
        .some((subschema) => !innerSchemas([subschema], resolve).includes(schema))
      if (!isCaused) diagnostics.warn(written, { code: 'schema-impossible', fault })
    }
  }
  warn(
    'incoming',
    operations.map(({ parameters, body }) => [parameters, body]),
  )
  warn(
    'outgoing',
    operations.map(({ responses }) => responses),
  )
}

/** All subschemas for values, properties and items. Conditions and `not` are left out: they may well fit nothing. */
function innerSchemas(roots: readonly Schema[], resolve: Resolve): readonly Keywords[] {
  const schemas = new Set<Schema | undefined>(roots)
  // The loop also visits the schemas it adds.
  for (const schema of schemas) {
    if (typeof schema !== 'object') continue
    for (const subschema of subschemasOf(schema, resolve)) schemas.add(subschema)
  }
  return [...schemas].filter((schema) => typeof schema === 'object')
}

function subschemasOf(schema: Keywords, resolve: Resolve): Schema[] {
  const { properties = {}, patternProperties = {}, additionalProperties = true } = schema
  const named = [...Object.values(properties), ...Object.values(patternProperties)]
  return [...essentialSubschemas(schema, resolve), ...named, additionalProperties]
}

/** The subschemas, without `false`, whose fault can make the whole schema impossible. */
function essentialSubschemas(schema: Keywords, resolve: Resolve): Keywords[] {
  const { allOf = [], anyOf = [], oneOf = [], prefixItems = [], required = [] } = schema
  const { properties = {}, items = true, contains = true } = schema
  const needed = required.map((name) => valueAt(properties, name) ?? true)
  const lists = [...allOf, ...anyOf, ...oneOf, ...prefixItems, ...needed]
  return [...lists, items, contains, resolve(schema)].filter(
    (subschema) => typeof subschema === 'object',
  )
}

/** Whether a schema is only a reference: the warning is at its target. */
const isReference = (schema: Keywords) => Object.keys(schema).join() === '$ref'

/** Whether a schema refuses everything on purpose, as `not: {}`. */
function isEmptyByIntent(schema: Schema): boolean {
  return typeof schema === 'object' && (schema.not === true || hasNoKeywords(schema.not))
}
