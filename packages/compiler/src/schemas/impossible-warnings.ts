// Warns of the schemas that nothing fits: the first valid request would be refused, or the first answer would be 500.
import type { Operation } from '@plant-store/engine/for-compiler'
import { type Keywords, reachable, type Schema } from '@plant-store/json-schema'
import { type Direction, Impossibility, type Possible } from './impossible-schemas.ts'
import { ownValue } from './impossible-properties.ts'
import { hasNoKeywords } from './impossible-types.ts'
import type { Context } from './schemas.ts'

/** Finds the target of a reference. */
type Resolve = Possible['resolve']

const IMPOSSIBLE = 'nothing fits this schema'

/** Warns of the schemas of operations that nothing fits, each at the innermost one. */
export function warnOfImpossible(
  { schemas, diagnostics }: Pick<Context, 'schemas' | 'diagnostics'>,
  operations: readonly Operation[],
): void {
  if (schemas.hasInvalid) return // each has an error
  const resolve: Resolve = ({ $ref }) => ($ref === undefined ? undefined : schemas.compiled[$ref])
  const warn = (direction: Direction, parts: unknown) => {
    const fits = schemas.fits.bind(schemas)
    const impossibility = new Impossibility({ resolve, fits, direction })
    const idsOf = reachable(parts, () => undefined).filter((node) => typeof node === 'string')
    const roots = idsOf.flatMap((id) => schemas.compiled[id] ?? [])
    const inner = innerSchemas(roots, resolve).filter((schema) => !isReference(schema))
    for (const schema of inner) {
      const fault = impossibility.faultOf(schema)
      const written = schemas.writtenOf(schema)
      if (fault === undefined || written === undefined || isEmptyByIntent(schema)) continue
      const causes = partsFor(schema, resolve).filter((part) => !isEmptyByIntent(part))
      const isCaused = causes
        .filter((part) => impossibility.faultOf(part) !== undefined)
        .some((part) => !innerSchemas([part], resolve).includes(schema))
      if (!isCaused) diagnostics.warn(written, `${IMPOSSIBLE}: ${fault}`)
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

/** All schemas that values, and their members and items, must fit. Those of a condition, or of `not`, may be empty. */
function innerSchemas(roots: readonly Schema[], resolve: Resolve): readonly Keywords[] {
  const schemas = new Set<Schema | undefined>(roots)
  // The loop goes on with the schemas that it adds.
  for (const schema of schemas) {
    if (typeof schema !== 'object') continue
    for (const part of partsOf(schema, resolve)) schemas.add(part)
  }
  return [...schemas].filter((schema) => typeof schema === 'object')
}

/** The schemas for the same value, and for its members and items. */
function partsOf(schema: Keywords, resolve: Resolve): Schema[] {
  const { properties = {}, patternProperties = {}, additionalProperties = true } = schema
  const members = [...Object.values(properties), ...Object.values(patternProperties)]
  return [...partsFor(schema, resolve), ...members, additionalProperties]
}

/** The parts of a schema without which nothing may fit it, but `false`. */
function partsFor(schema: Keywords, resolve: Resolve): Keywords[] {
  const { allOf = [], anyOf = [], oneOf = [], prefixItems = [], required = [] } = schema
  const { properties = {}, items = true, contains = true } = schema
  const members = required.map((name) => ownValue(properties, name) ?? true)
  const lists = [...allOf, ...anyOf, ...oneOf, ...prefixItems, ...members]
  return [...lists, items, contains, resolve(schema)].filter((part) => typeof part === 'object')
}

/** Whether a schema has nothing but a reference: its target is warned of. */
const isReference = (schema: Keywords) => Object.keys(schema).join() === '$ref'

/** Whether a schema is written to refuse everything, as `not: {}`. */
function isEmptyByIntent(schema: Schema): boolean {
  return typeof schema === 'object' && (schema.not === true || hasNoKeywords(schema.not))
}
