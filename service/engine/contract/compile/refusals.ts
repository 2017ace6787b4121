// What of OpenAPI 3.1 is refused, and what is served with a note: lines of the table in ../README.md. Those that need more than
// one object, or the product, are in the files that compile them.
import type { RuleConfig } from '@redocly/openapi-core/lib/config/types.js'
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { nameOf } from './references.ts'
import { declaredTypes, type Part, partWith } from './shapes.ts'
import { isObject, toRegExp } from '../assertions.ts'
import { isNumeric } from '../numbers.ts'

/** A rule of Redocly's linter: what holds for an object, or for its member `property`, where it is served; and a text for others. */
type Row = readonly [type: string, property: string | null, assertions: object, text: string, where?: object]

/** A segment is plain text and parameters, with text between two of them. The router uses `*` for its own syntax. */
export const PATH = /^(\/([\w.~!$&'()+,;=@:-]|{[^{}/]+}(?!{))+)*\/?$/
const SEGMENT =
  'this path is not served: write each segment as plain text and {parameters}, with text between two of them'
const DIALECT = /^https:\/\/(spec\.openapis\.org\/oas\/3\.1\/dialect\/.*|json-schema\.org\/draft\/2020-12\/schema)$/
const OTHER_DIALECT = 'only JSON Schema 2020-12 is served: leave this out'
const STYLE = 'this style is not served: leave it out'
const STATUS = 'this status is not served: write 200 to 599, 2XX to 5XX, or default'
const REQUIRED = 'a parameter in a path needs "required: true"'
const NO_MEDIA = 'a body without media types is not served: write "content"'
const FIRST_SERVER = 'of these servers only the path counts, and only that of the first'
const NO_RESPONSES = 'without responses, the method answers any status without a body'
const OTHER_MEANS = 'OpenAPI ignores this header as a parameter: write "security", or media types'
const SCHEME = 'this security scheme is not served: write names of HTTP'
/** The names of headers, cookies and authentication schemes: RFC 9110, section 5.6.2. */
const TOKEN = "/^[\\w!#$%&'*+.^`|~-]+$/"
const absent = { undefined: true }
const inPlace = (...places: string[]) => isIn('Parameter', ...places)
const isIn = (type: string, ...places: string[]) => ({
  subject: { type, property: 'in' },
  assertions: { enum: places },
})
const below = (type: string, keys = '/./') => ({ subject: { type, matchParentKeys: keys }, assertions: {} })

const REFUSED: readonly Row[] = [
  ['Root', 'jsonSchemaDialect', { pattern: String(DIALECT) }, OTHER_DIALECT],
  ['Paths', null, { pattern: `/${PATH.source}|^x-/` }, SEGMENT],
  ['Paths', null, { notPattern: '/({[^}]+}).*\\1/' }, 'this path has a parameter twice: give each its own name'],
  ['PathItem', 'head', absent, '"head" is not served: leave it out, HEAD works where GET does'],
  ['PathItem', 'options', absent, '"options" is not served: leave it out, OPTIONS answers with Allow'],
  ['PathItem', 'trace', absent, '"trace" is not served: leave it out, it would answer with secrets'],
  ['Operation', 'operationId', { notPattern: '/^(constructor|then|)$/' }, "this can't be the name of a method"],
  ['Operation', 'requestBody', absent, 'a body of get is not served: write post', below('Operation', '/^get$/')],
  ['Parameter', 'in', { notPattern: '/^cookie$/' }, 'a parameter in a cookie is not served: write "in: header"'],
  ['Parameter', 'name', { notPattern: '/^__proto__$/' }, 'the name __proto__ is not served: use another'],
  ['Parameter', 'style', { const: 'form' }, STYLE, inPlace('query')],
  ['Parameter', 'style', { const: 'simple' }, STYLE, inPlace('path', 'header')],
  ['Parameter', 'required', { defined: true, const: true }, REQUIRED, inPlace('path')],
  ['Parameter', 'allowReserved', { const: false }, '"allowReserved" is not served: leave it out'],
  ['Parameter', 'allowEmptyValue', { const: false }, '"allowEmptyValue" is not served: leave it out'],
  ['Parameter', 'content', absent, '"content" of a parameter is not served: write "schema"'],
  ['MediaTypesMap', null, { minLength: 1 }, NO_MEDIA, below('RequestBody')],
  ['SecurityScheme', 'scheme', { pattern: TOKEN }, SCHEME],
  ['SecurityScheme', 'name', { pattern: TOKEN }, SCHEME, isIn('SecurityScheme', 'header', 'cookie')],
  ['Responses', null, { pattern: '/^([2-5]\\d\\d|[2-5]XX|default|x-.*)$/' }, STATUS],
]

const NOTED: readonly Row[] = [
  ['PathItem', 'servers', absent, FIRST_SERVER],
  ['Operation', 'servers', absent, FIRST_SERVER],
  ['Operation', 'responses', { defined: true }, NO_RESPONSES],
  ['Responses', null, { minLength: 1 }, NO_RESPONSES],
  ['Parameter', 'name', { notPattern: '/^(accept|authorization|content-type)$/i' }, OTHER_MEANS, inPlace('header')],
]

/** The rules of Redocly's linter: its own ones for the structure, references and names of OpenAPI 3.1, and the rows. */
export const RULES: Readonly<Record<string, RuleConfig>> = {
  struct: 'error',
  'no-unresolved-refs': 'error',
  'path-parameters-defined': 'error',
  'operation-parameters-unique': 'error',
  'no-undefined-server-variable': 'error',
  ...rulesOf(REFUSED, 'error'),
  ...rulesOf(NOTED, 'warn'),
}

function rulesOf(rows: readonly Row[], severity: 'error' | 'warn') {
  const rules = rows.map(([type, property, assertions, message, where]) => {
    const subject = property === null ? { type } : { type, property }
    return { subject, assertions, message, severity, ...(where && { where: [where] }) }
  })
  return Object.fromEntries(rules.map((rule, index) => [`rule/${severity}-${index}`, rule]))
}

/** What is done with a keyword of a schema, when that is meant, and a text with `{key}` and `{value}`. */
type KeywordRow = readonly [how: 'refuse' | 'note', keyword: RegExp, isMeant: Condition, text: string]
type Condition = (value: unknown, schema: Part, place: 'json' | 'form') => boolean

const always: Condition = () => true
const isTrue: Condition = (value) => value === true
const isOtherDialect: Condition = (dialect) => !DIALECT.test(String(dialect))
const hasProto: Condition = (names) => (isObject(names) ? Object.keys(names) : [names].flat()).includes('__proto__')
const hasDefault: Condition = (schemas) => [schemas].flat().some((each) => partWith(each, 'default'))
/** Whether a format is unknown, or not for the type: some are for numbers. In JSON there are no bytes. */
const isIdle: Condition = (format, schema, place) => {
  const [types, isOfNumbers] = [declaredTypes(schema), /^(int32|int64|float|double)$/.test(String(format))]
  const isForType = types.some((type) => (isOfNumbers ? isNumeric(type) : type === 'string'))
  if (format === 'binary' && place === 'json') return true
  return (types.length > 0 && !isForType) || !(isOfNumbers || String(format) in fullFormats)
}

const NO_ANCHOR = "{key} is not served: refer with $ref: '#/components/schemas/...'"
const NO_PATTERN = 'the pattern is not a regular expression of ECMAScript'
const NO_FLAG = 'this pattern works only without the flag u: it is served so'
const NO_FORMAT = 'the format {value} validates nothing here: formats in product.ts may have a function for it'
const NO_DEFAULT = 'a default below {key} is not filled in: write it beside {key}'
const NULLABLE = 'nullable is served as OpenAPI 3.0 has it, beside a type: write "null" as one of several types'
const EXCLUSIVE = '{key} is served as OpenAPI 3.0 has it: write the bound itself'
const KEYWORDS: readonly KeywordRow[] = [
  ['refuse', /^\$(id|anchor|dynamicRef|dynamicAnchor|vocabulary)$/, always, NO_ANCHOR],
  ['refuse', /^\$schema$/, isOtherDialect, OTHER_DIALECT],
  ['refuse', /^pattern(Properties)?$/, (value) => allFlags(value).includes(undefined), NO_PATTERN],
  ['refuse', /^(properties|required)$/, hasProto, 'a member __proto__ is not served'],
  ['note', /^pattern(Properties)?$/, (value) => allFlags(value).includes(''), NO_FLAG],
  ['note', /^format$/, isIdle, NO_FORMAT],
  ['note', /^nullable$/, isTrue, NULLABLE],
  ['note', /^exclusiveM..imum$/, isTrue, EXCLUSIVE],
  ['note', /^(anyOf|oneOf|then|else|not|if)$/, hasDefault, NO_DEFAULT],
]

/** What to say of a keyword of a schema; undefined if it means what one expects. */
export function keywordFinding(key: string, schema: Part, place: 'json' | 'form') {
  const value = schema[key]
  const found = KEYWORDS.find(([, name, isMeant]) => name.test(key) && isMeant(value, schema, place))
  const written = (_: string, name: string) => String(name === 'key' ? key : value)
  return found && { how: found[0], text: found[3].replaceAll(/{(key|value)}/g, written) }
}

/** The flags of a pattern, or of each key of an object. */
const allFlags = (value: unknown) => (isObject(value) ? Object.keys(value) : [value]).map(flagsOf)

/** The flags with which a pattern is served; undefined if it is none. */
function flagsOf(pattern: unknown): string | undefined {
  try {
    return toRegExp(String(pattern)).flags
  } catch {
    return undefined
  }
}

const META = new Ajv2020({ allErrors: true, strict: false, validateFormats: false, verbose: true })

/** What JSON Schema's own schema says of a schema and of those in it, by the path of each fault. */
export function metaFaults(schema: object): { path: string[]; text: string }[] {
  META.validate('https://json-schema.org/draft/2020-12/schema', schema)
  // An integer beyond 2^53 is a bigint here. OpenAPI 3.0 had booleans as exclusive bounds.
  const isServed = ({ keyword, data, instancePath }: ErrorObject) =>
    keyword === 'uniqueItems' ||
    typeof data === 'bigint' ||
    (typeof data === 'boolean' && /\/exclusiveM..imum$/.test(instancePath))
  const faults = (META.errors ?? []).filter((each) => !isServed(each))
  const first = new Map(faults.toReversed().map((fault) => [fault.instancePath, fault]))
  return [...first].map(([pointer, { message, params }]) => {
    const path = pointer.split('/').slice(1).map(nameOf)
    const values: unknown = params['allowedValues']
    return { path, text: `${path.join('/')} ${message}${Array.isArray(values) ? `: ${values.join(', ')}` : ''}` }
  })
}
