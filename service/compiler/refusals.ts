// What of JSON Schema is refused, or is served with a note: rows of the table in ../README.md. refusals.yaml has those of OpenAPI.
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { nameOf } from './references.ts'
import { declaredTypes, isFile, type SchemaObject, schemaWith } from './shapes.ts'
import { isObject, toRegExp } from '../engine/json-schema/assertions.ts'
import { isNumeric } from '../engine/json-schema/numbers.ts'

const DIALECT =
  /^https:\/\/(spec\.openapis\.org\/oas\/3\.1\/dialect\/.*|json-schema\.org\/draft\/2020-12\/schema)$/

/** What is done with a keyword of a schema if the condition applies, and what is said then, with `{key}` and `{value}`. */
type KeywordRow = readonly [
  how: 'refuse' | 'note',
  keyword: RegExp,
  condition: Condition,
  text: string,
]
type Condition = (value: unknown, schema: SchemaObject, sentAs: 'json' | 'form') => boolean

const always: Condition = () => true
const isTrue: Condition = (value) => value === true
const isOtherDialect: Condition = (dialect) => !DIALECT.test(String(dialect))
const hasProto: Condition = (names) =>
  (isObject(names) ? Object.keys(names) : [names].flat()).includes('__proto__')
const hasDefault: Condition = (schemas) =>
  [schemas].flat().some((each) => schemaWith(each, 'default'))
const hasFiles: Condition = (value, { items }, sentAs) =>
  value === true && sentAs === 'form' && isFile(items)
/** Whether a format is unknown, or not for the type of the schema: some are for numbers. JSON has no bytes. */
const validatesNothing: Condition = (format, schema, sentAs) => {
  const [types, isOfNumbers] = [
    declaredTypes(schema),
    /^(int32|int64|float|double)$/.test(String(format)),
  ]
  const isForType = types.some((type) => (isOfNumbers ? isNumeric(type) : type === 'string'))
  if (format === 'binary' && sentAs === 'json') return true
  return (types.length > 0 && !isForType) || !(isOfNumbers || String(format) in fullFormats)
}

const NO_DIALECT = 'only JSON Schema 2020-12 is served: leave this out'
const NO_ANCHOR = "{key} is not served: refer with $ref: '#/components/schemas/...'"
const NO_PATTERN = 'the pattern is not a regular expression of ECMAScript'
const NO_FLAG = 'this pattern works only without the flag u: it is served so'
const NO_FORMAT =
  'the format {value} validates nothing here: formats in product.ts may have a function for it'
const NO_DEFAULT = 'a default below {key} is not filled in: write it beside {key}'
const NULLABLE =
  'nullable is served as OpenAPI 3.0 has it, beside a type: write "null" as one of several types'
const EXCLUSIVE = '{key} is served as OpenAPI 3.0 has it: write the bound itself'
const KEYWORDS: readonly KeywordRow[] = [
  ['refuse', /^\$(id|anchor|dynamicRef|dynamicAnchor|vocabulary)$/, always, NO_ANCHOR],
  ['refuse', /^\$schema$/, isOtherDialect, NO_DIALECT],
  ['refuse', /^pattern(Properties)?$/, (value) => allFlags(value).includes(undefined), NO_PATTERN],
  ['refuse', /^uniqueItems$/, hasFiles, 'files are not compared: leave uniqueItems out'],
  ['refuse', /^(properties|required)$/, hasProto, 'a member __proto__ is not served'],
  ['note', /^pattern(Properties)?$/, (value) => allFlags(value).includes(''), NO_FLAG],
  ['note', /^format$/, validatesNothing, NO_FORMAT],
  ['note', /^nullable$/, isTrue, NULLABLE],
  ['note', /^exclusiveM..imum$/, isTrue, EXCLUSIVE],
  ['note', /^(anyOf|oneOf|then|else|not|if)$/, hasDefault, NO_DEFAULT],
]

/** What to report of a keyword of a schema; undefined if it is served as JSON Schema says. */
export function keywordFinding(key: string, schema: SchemaObject, sentAs: 'json' | 'form') {
  const value = schema[key]
  const found = KEYWORDS.find(
    ([, name, applies]) => name.test(key) && applies(value, schema, sentAs),
  )
  const written = (_: string, name: string) => String(name === 'key' ? key : value)
  return found && { how: found[0], text: found[3].replaceAll(/{(key|value)}/g, written) }
}

/** The flags of a pattern, or of each key of an object. */
const allFlags = (value: unknown) => (isObject(value) ? Object.keys(value) : [value]).map(flagsOf)

/** The flags with which a pattern is served; undefined if it is not valid. */
function flagsOf(pattern: unknown): string | undefined {
  try {
    return toRegExp(String(pattern)).flags
  } catch {
    return undefined
  }
}

const META = new Ajv2020({
  allErrors: true,
  strict: false,
  strictNumbers: true,
  validateFormats: false,
  verbose: true,
})

/** What JSON Schema's own schema says of a schema and of those in it, by the path of each fault. */
export function metaFaults(schema: object): { path: string[]; text: string }[] {
  META.validate('https://json-schema.org/draft/2020-12/schema', schema)
  // An integer beyond 2^53 is a bigint here. OpenAPI 3.0 had booleans as exclusive bounds.
  const isServed = ({ keyword, data, instancePath }: ErrorObject) =>
    keyword === 'uniqueItems' ||
    /\/(\$recursive(Ref|Anchor)|dependencies|definitions)(\/|$)/.test(instancePath) || // no keywords of 2020-12
    typeof data === 'bigint' ||
    (typeof data === 'boolean' && /\/exclusiveM..imum$/.test(instancePath))
  const faults = (META.errors ?? []).filter((each) => !isServed(each))
  const first = new Map(faults.toReversed().map((fault) => [fault.instancePath, fault]))
  return [...first].map(([pointer, { message, params }]) => {
    const path = pointer.split('/').slice(1).map(nameOf)
    const values: unknown = params['allowedValues']
    return {
      path,
      text: `${path.join('/')} ${message}${Array.isArray(values) ? `: ${values.join(', ')}` : ''}`,
    }
  })
}
