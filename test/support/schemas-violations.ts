import { brief, toInteger } from './json.ts'
import { samplesOf } from './schemas-arbitrary.ts'
import { exact, faultsOf, fields, isObject, type Schema } from './schemas.ts'

/** A value that differs from a valid one at one place, and the name of the difference. */
type Mutant = readonly [label: string, value: unknown]

/** The values that replace a part of a valid value, for any schema. */
const POOL = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  '',
  ' ',
  'x',
  'É',
  '7',
  'null',
  '\0',
  '\n',
  '\uD800',
  '\uDFFF',
  [],
  {},
]

/**
 * Changes valid values, one place at a time: to other types, to each bound of the schema and beyond it, to too few and
 * too many members and items. A mutant may still be valid.
 */
export function mutantsOf(schema: Schema, values: readonly unknown[]): Mutant[] {
  const nodes = [...nodesOf(schema)]
  const counts = new Set(
    nodes.flatMap((node) => COUNTS.flatMap((key) => around(node[key]))).map(Number),
  )
  const pool = [...POOL, ...nodes.flatMap(candidatesOf)]
  const all = values.flatMap((value) => [...changesOf(value, pool, [...counts], '')])
  return [...new Map(all.toReversed())] // the first of each name
}

const COUNTS = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties']
const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']

function candidatesOf(node: Schema): unknown[] {
  const bits = /^int(32|64)$/.exec(String(node['format']))?.[1]
  const limit = bits === undefined ? undefined : 2n ** BigInt(Number(bits) - 1)
  const bounds = [...BOUNDS.map((key) => node[key]), limit, limit && -limit]
  // A value that is valid for one part of a schema may violate another part.
  const samples = 'type' in node ? samplesOf(node, 3) : []
  const listed = [node['enum'], node['examples']].flatMap((each) => Object.values(fields(each)))
  return [
    ...bounds.flatMap(around),
    ...listed,
    ...('const' in node ? [node['const']] : []),
    ...samples,
  ]
}

function around(bound: unknown): unknown[] {
  if (typeof bound === 'number' && !Number.isInteger(bound)) return [bound - 1, bound, bound + 1]
  if (typeof bound !== 'number' && typeof bound !== 'bigint') return []
  return [-1n, 0n, 1n].map((step) => toInteger(BigInt(bound) + step))
}

function* changesOf(
  value: unknown,
  pool: unknown[],
  counts: readonly number[],
  at: string,
): Generator<Mutant> {
  for (const each of pool) yield [`${at} = ${brief(each)}`, each]
  yield [`${at} in an array`, [value]]
  if (typeof value === 'string') yield* textsNear(value, counts, at)
  if (Array.isArray(value)) {
    for (const count of counts.filter((count) => count >= 0 && value.length > 0)) {
      const items = Array.from(
        { length: count },
        (_, index): unknown => value[index % value.length],
      )
      yield [`${at} of ${count} items`, items]
    }
    for (const [index, item] of value.entries()) {
      for (const [label, other] of changesOf(item, pool, counts, `${at}/*`))
        yield [label, value.with(index, other)]
    }
  } else if (isObject(value)) {
    for (const name of ['another', 'toString', ''])
      yield [`${at} with the member "${name}"`, { ...value, [name]: 1 }]
    for (const [name, member] of Object.entries(value)) {
      const { [name]: _, ...rest } = value
      yield [`${at} without ${name}`, rest]
      yield [`${at} with ${name} in capital letters`, { ...value, [name.toUpperCase()]: member }]
      for (const [label, other] of changesOf(member, pool, counts, `${at}/${name}`)) {
        yield [label, { ...value, [name]: other }]
      }
    }
  }
}

function* textsNear(text: string, counts: readonly number[], at: string): Generator<Mutant> {
  for (const more of ['\n', 'x', '\0', '\uD83C']) yield [`${at} and ${brief(more)}`, text + more]
  yield [`${at} without its first character`, text.slice(1)]
  yield [`${at} without its last character`, text.slice(0, -1)]
  yield [`${at} in capital letters`, text.toUpperCase()]
  for (const count of counts.filter((count) => count >= 0)) {
    const characters = Array.from((text || 'x').repeat(count)).slice(0, count)
    yield [`${at} of ${count} characters`, characters.join('')]
    yield [`${at} of ${count} characters beyond 16 bits`, '🌱'.repeat(count)]
  }
}

const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems']
const MAPS = ['properties', 'patternProperties', 'dependentSchemas']
const SINGLE = [
  'items',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'then',
  'else',
]
const ANNOTATIONS =
  /^(title|description|examples?|default|deprecated|readOnly|writeOnly|\$comment|externalDocs|xml|discriminator|if|content[A-Z]\w+)$/

const SETS_NO_RULE = new Set([
  ...['minLength: 0', 'minItems: 0', 'minProperties: 0', 'uniqueItems: false'],
  ...['items', 'additionalProperties', 'unevaluatedProperties'].map((key) => `${key}: true`),
])

/** All schemas within a schema. */
function* nodesOf(schema: unknown): Generator<Schema> {
  if (!isObject(schema)) return
  yield schema
  for (const key of [...LISTS, ...MAPS])
    for (const each of Object.values(fields(schema[key]))) yield* nodesOf(each)
  for (const key of [...SINGLE, 'not', 'if', 'contains']) yield* nodesOf(schema[key])
}

/** The rules of a schema that no value violates, as JSON pointers. `required` has one for each name. */
export function unviolated(schema: Schema, values: readonly unknown[]): string[] {
  const violated = new Set(
    values.flatMap((value) =>
      faultsOf(schema, value).map(({ schemaPath, params }) =>
        schemaPath.endsWith('/required')
          ? `${schemaPath}/${String(params['missingProperty'])}`
          : schemaPath,
      ),
    ),
  )
  return [...rulesOf(exact(schema), '#')].filter((rule) => !violated.has(rule))
}

function* rulesOf(schema: unknown, at: string): Generator<string> {
  for (const [key, value] of Object.entries(fields(schema))) {
    const pointer = `${at}/${key}`
    if (ANNOTATIONS.test(key) || SETS_NO_RULE.has(`${key}: ${String(value)}`)) continue
    if (key === 'required')
      for (const name of Object.values(fields(value))) yield `${pointer}/${String(name)}`
    else if (SINGLE.includes(key) && isObject(value)) yield* rulesOf(value, pointer)
    else if (MAPS.includes(key) || LISTS.includes(key)) {
      for (const [name, each] of Object.entries(fields(value)))
        yield* rulesOf(each, `${pointer}/${escape(name)}`)
    } else yield pointer
  }
}

/** A name within a JSON pointer in a URI fragment (RFC 6901, section 6). */
const escape = (name: string) =>
  encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))
