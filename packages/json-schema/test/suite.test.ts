// The official tests of JSON Schema 2020-12, for whoever has them: `JSON_SCHEMA_SUITE=<folder>` is a copy of
// https://github.com/json-schema-org/JSON-Schema-Test-Suite.
import { globSync, readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { parseJson } from '@plant-store/engine/for-store'
import { referencesIn, standardAnnotations, standardCheck } from './standard.ts'

/** A schema of the suite, with values. */
interface Group {
  readonly description: string
  readonly schema: unknown
  readonly tests: readonly Row[]
}

interface Row {
  readonly description: string
  readonly data: unknown
  readonly valid: boolean
}

/** A schema of the tests of annotations. */
interface Case {
  readonly description: string
  /** The dialects of the file: see the README of the suite. */
  readonly compatibility?: string
  readonly schema: unknown
  readonly tests: readonly { instance: unknown; assertions: readonly Assertion[] }[]
}

/** The annotations of a part of the instance by one keyword: its values, by the place of the schema. */
interface Assertion {
  readonly location: string
  readonly keyword: string
  readonly expected: Readonly<Record<string, unknown>>
}

const UNKNOWN_FORMAT = 'a format that is not known is an annotation'
const AJV_FORMATS = 'ajv-formats, which checks formats, says otherwise'

/** Files, groups and rows which are left out, each with the reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'dynamicRef.json': '$dynamicRef is refused by the compiler',
  'format.json': 'it takes formats for annotations; the service checks them',
  'vocabulary.json': 'the dialect is always 2020-12',
  'optional/bignum.json': 'an integer without a format has the range of RFC 8259, section 6',
  'optional/dependencies-compatibility.json': 'a keyword of draft 7',
  'optional/float-overflow.json': 'a number beyond the range of a double is refused by the parser',
  'annotations/content.json': 'the keywords of content are for people',
  'optional/format/idn-email.json': UNKNOWN_FORMAT,
  'optional/format/idn-hostname.json': UNKNOWN_FORMAT,
  'optional/format/iri-reference.json': UNKNOWN_FORMAT,
  'optional/format/iri.json': UNKNOWN_FORMAT,
  'optional/format/hostname.json: validation of A-label (punycode) host names': AJV_FORMATS,
  ...rowsOf('optional/format/hostname.json', AJV_FORMATS, ['trailing dot']),
  ...rowsOf('optional/format/date-time.json', AJV_FORMATS, [
    'hour 24 is invalid even with a leap second',
    'a second fraction of fifteen nines is valid',
  ]),
  ...rowsOf('optional/format/duration.json', AJV_FORMATS, [
    'years and days cannot appear without months',
    'hours and seconds cannot appear without minutes',
  ]),
  ...rowsOf('optional/format/ecmascript-regex.json', 'a pattern need not be one with the flag u', [
    'when used as a pattern',
  ]),
  ...rowsOf('optional/format/email.json', AJV_FORMATS, [
    'a quoted string with a space in the local part is valid',
    'a quoted string with a double dot in the local part is valid',
    'a quoted string with a @ in the local part is valid',
    'an IPv4-address-literal after the @ is valid',
    'an IPv6-address-literal after the @ is valid',
  ]),
  ...rowsOf('optional/format/uri-reference.json', AJV_FORMATS, [
    'a double quote in a path',
    'square brackets outside an authority',
    'a non-numeric port in a network-path reference',
    'more than one at-sign in the authority',
    'a leading zero in the IPv4 part of an IPv6 literal',
    'a colon in the first segment of a relative-path reference',
  ]),
  ...rowsOf('optional/format/uri-template.json', AJV_FORMATS, [
    'a dotted variable name is valid',
    'a delete character in a literal is invalid',
    'an apostrophe in a literal is valid',
  ]),
  ...rowsOf('optional/format/uri.json', AJV_FORMATS, [
    'non-numeric port is invalid',
    'leading zero in an embedded IPv4 address is invalid',
    'square brackets are not allowed in a path segment',
  ]),
  ...rowsOf('optional/format/uuid.json', AJV_FORMATS, ['URN prefixed UUID is invalid']),
}

/** Leaves out rows of a file. */
function rowsOf(
  file: string,
  reason: string,
  descriptions: readonly string[],
): Record<string, string> {
  return Object.fromEntries(descriptions.map((description) => [`${file}: ${description}`, reason]))
}

const folder = process.env['JSON_SCHEMA_SUITE']
const skip = folder === undefined && 'JSON_SCHEMA_SUITE names no folder'

t.test('the official suite of JSON Schema 2020-12', { skip }, async (t) => {
  const files = globSync('**/*.json', { cwd: `${folder}/tests/draft2020-12` }).sort()
  t.ok(files.length > 40, `${files.length} files`)
  for (const file of files) {
    await t.test(file, { skip: LEFT_OUT[file] ?? false }, async (t) => {
      const groups = readJson(`${folder}/tests/draft2020-12/${file}`) as readonly Group[]
      for (const group of groups) {
        const reason = LEFT_OUT[`${file}: ${group.description}`] ?? reasonToLeaveOut(group.schema)
        if (reason === undefined) checkGroup(t, file, group)
        else t.pass(group.description, { skip: reason })
      }
    })
  }
})

t.test('the annotations of the official suite', { skip }, async (t) => {
  const files = globSync('*.json', { cwd: `${folder}/annotations/tests` }).sort()
  t.ok(files.length > 5, `${files.length} files`)
  for (const file of files) {
    await t.test(file, { skip: LEFT_OUT[`annotations/${file}`] ?? false }, async (t) => {
      const { suite } = readJson(`${folder}/annotations/tests/${file}`) as {
        suite: readonly Case[]
      }
      for (const group of suite) {
        const reason = reasonToLeaveOut(group.schema) ?? reasonOfDialect(group)
        if (reason === undefined) checkAnnotations(t, group)
        else t.pass(group.description, { skip: reason })
      }
    })
  }
})

/** Reads a file with exact numbers, where the parser allows its names. */
function readJson(path: string): unknown {
  const bytes = readFileSync(path)
  try {
    return parseJson(bytes)
  } catch {
    return JSON.parse(String(bytes))
  }
}

function checkGroup(t: Test, file: string, { description, schema, tests }: Group): void {
  const isValid = standardCheck(schema)
  for (const row of tests) {
    const name = `${description}: ${row.description}`
    const reason = LEFT_OUT[`${file}: ${row.description}`]
    if (reason === undefined) t.equal(isValid(row.data), row.valid, name)
    else t.pass(name, { skip: reason })
  }
}

function checkAnnotations(t: Test, { description, schema, tests }: Case): void {
  const annotationsOf = standardAnnotations(schema)
  for (const { instance, assertions } of tests) {
    const annotations = annotationsOf(instance)
    for (const { location, keyword, expected } of assertions) {
      const values = annotations
        .filter((annotation) => annotation.location === location)
        .map((annotation): unknown => Reflect.get(annotation.schema, keyword))
        .filter((value) => value !== undefined)
      const name = `${description}: ${keyword} of '${location}'`
      t.strictSame(textsOf(values), textsOf(Object.values(expected)), name)
    }
  }
}

/** The JSON of values, sorted: the order of annotations means nothing. */
const textsOf = (values: readonly unknown[]) => values.map((value) => JSON.stringify(value)).sort()

/** OpenAPI refers by JSON pointers and by files, so `$id` and `$anchor` are not served. */
function reasonToLeaveOut(schema: unknown): string | undefined {
  const isServed = referencesIn(schema).every((reference) => /^#(\/|$)/.test(reference))
  return isServed ? undefined : 'its references are no JSON pointers'
}

function reasonOfDialect({ compatibility = '3' }: Case): string | undefined {
  return /^(\d|2019|2020)$/.test(compatibility) ? undefined : `of the dialects ${compatibility}`
}
