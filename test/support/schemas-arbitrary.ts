import fc from 'fast-check'
import { stringify, toInteger } from './json.ts'
import { fields, isObject, isValid, remembered, type Schema } from './schemas.ts'

type Values = fc.Arbitrary<unknown>

/** Makes values of formats that random texts never match. */
const FORMATS: Readonly<Record<string, () => Values>> = {
  date: () => dates().map((text) => text.slice(0, 10)),
  'date-time': dates,
  time: () => dates().map((text) => text.slice(11)),
  duration: () => fc.nat(99).map((days) => `P${days}D`),
  uuid: () => fc.uuid(),
  email: () => fc.emailAddress(),
  hostname: () => fc.domain(),
  ipv4: () => fc.ipV4(),
  ipv6: () => fc.ipV6(),
  uri: () => fc.webUrl(),
  'uri-reference': () => fc.webUrl(),
  byte: () => fc.base64String(),
}

/**
 * Makes valid values of a schema. It tries several branches, and filters their values by the schema.
 * @throws {Error} if no branch gives a valid value; the message says what to do
 */
export const arbitraryOf: (schema: Schema) => Values = remembered(makeArbitrary)

function makeArbitrary(schema: Schema): Values {
  const isGood = (value: unknown) => isValid(schema, value)
  const good = branchesOf(partsOf(schema)).filter((branch) => {
    const tries = fc.sample(branch, { numRuns: 50, seed: 1 })
    return tries.filter(isGood).length > tries.length / 20
  })
  if (good.length > 0) return fc.oneof(...good.map((branch) => branch.filter(isGood)))
  throw new Error(
    `no valid value is found, give an example in openapi.yaml to the schema ${stringify(schema)}`,
  )
}

/** A few valid values, the same in each run. */
export const samplesOf = (schema: Schema, numRuns = 1) =>
  fc.sample(arbitraryOf(schema), { numRuns, seed: 1 })

/** A schema and all of its `allOf`. */
export function partsOf(schema: Schema): Schema[] {
  const { allOf, ...rest } = schema
  return [rest, ...Object.values(fields(allOf)).flatMap((each) => partsOf(fields(each)))]
}

function branchesOf(parts: readonly Schema[]): Values[] {
  const all = (keyword: string) => parts.flatMap((part) => (keyword in part ? [part[keyword]] : []))
  const listed = [
    ...all('const'),
    ...all('example'),
    ...[...all('enum'), ...all('examples')].flat(),
  ]
  const branches: Values[] = listed.length > 0 ? [fc.constantFrom(...listed)] : []
  for (const keyword of ['oneOf', 'anyOf']) {
    const [options] = all(keyword)
    if (options === undefined) continue
    const rest = parts.map(({ [keyword]: _, ...part }) => part)
    return Object.values(fields(options)).map((option) =>
      arbitraryOf({ allOf: [...rest, fields(option)] }),
    )
  }
  const types = all('type').at(0) ?? inferredType(parts)
  return [...branches, ...[types].flat().flatMap((type) => TYPES[String(type)]?.(all, parts) ?? [])]
}

function inferredType(parts: readonly Schema[]): unknown {
  const has = (...keywords: string[]) =>
    keywords.some((keyword) => parts.some((part) => keyword in part))
  if (has('properties', 'required', 'additionalProperties')) return 'object'
  if (has('items', 'prefixItems', 'minItems', 'maxItems')) return 'array'
  if (has('pattern', 'minLength', 'maxLength', 'format')) return 'string'
  return 'any'
}

/** The values of a keyword in all parts of a schema. */
type All = (keyword: string) => unknown[]

const TYPES: Readonly<Record<string, (all: All, parts: readonly Schema[]) => Values[]>> = {
  any: () => [fc.constantFrom(null, true, 7, 1.5, 'text', [], {})],
  null: () => [fc.constant(null)],
  boolean: () => [fc.boolean()],
  integer: integers,
  number: numbers,
  string: strings,
  array: arrays,
  object: objects,
}

function integers(all: All): Values[] {
  const bits = all('format').includes('int64') ? 64n : all('format').includes('int32') ? 32n : 54n
  const limit = 2n ** (bits - 1n)
  const least = [
    ...all('minimum').map(ceiling),
    ...all('exclusiveMinimum').map((each) => floor(each) + 1n),
  ]
  const most = [
    ...all('maximum').map(floor),
    ...all('exclusiveMaximum').map((each) => ceiling(each) - 1n),
  ]
  const min = least.reduce((a, b) => (a > b ? a : b), bits === 54n ? 1n - limit : -limit) // RFC 8259, section 6
  const max = most.reduce((a, b) => (a < b ? a : b), limit - 1n)
  if (min > max) return []
  const [unit = 1n] = all('multipleOf').map(ceiling)
  const steps = fc.bigInt({ min: min / unit, max: max / unit })
  return [steps.map((step) => step * unit), fc.constantFrom(min, max)].map((each) =>
    each.map(toInteger),
  )
}

function numbers(all: All): Values[] {
  const min = Math.max(
    -Number.MAX_VALUE,
    ...[...all('minimum'), ...all('exclusiveMinimum')].map(Number),
  )
  const max = Math.min(
    Number.MAX_VALUE,
    ...[...all('maximum'), ...all('exclusiveMaximum')].map(Number),
  )
  if (min > max) return []
  const units = all('multipleOf').map(Number)
  const near = Math.abs(min) < 1e6 ? min : 0
  return [
    fc.double({ min, max, noNaN: true }),
    fc.constantFrom(min, max),
    ...units.map((unit) =>
      fc.nat(1000).map((count) => Number(((Math.ceil(near / unit) + count) * unit).toFixed(10))),
    ),
  ]
}

function strings(all: All): Values[] {
  const minLength = Math.max(0, ...all('minLength').map(Number))
  const most = Math.min(10_000, ...all('maxLength').map(Number))
  const maxLength = all('maxLength').length > 0 ? most : minLength + 20
  if (minLength > maxLength) return []
  const lengths = [{}, { maxLength: minLength }, { minLength: maxLength }]
  const units = ['binary', 'grapheme-ascii'] as const
  return [
    ...units.flatMap((unit) =>
      lengths.map((each) => fc.string({ unit, minLength, maxLength, ...each })),
    ),
    ...all('pattern').flatMap(matching),
    ...all('format').flatMap((name) => FORMATS[String(name)]?.() ?? []),
  ]
}

/** Makes texts that match a pattern, if fast-check can read the pattern. */
function matching(pattern: unknown): Values[] {
  try {
    return [fc.stringMatching(new RegExp(String(pattern), 'u'))]
  } catch {
    return []
  }
}

function arrays(all: All): Values[] {
  const first = all('prefixItems').flatMap((each) =>
    Object.values(fields(each)).map(fields).map(arbitraryOf),
  )
  const minLength = Math.max(0, ...all('minItems').map(Number)) - first.length
  const maxLength = Math.min(
    minLength + 5,
    ...all('maxItems').map((each) => Number(each) - first.length),
  )
  const items = all('items').filter(isObject)
  const most = all('items').includes(false) ? 0 : Math.max(0, maxLength)
  const lengths = { minLength: Math.max(0, minLength), maxLength: most }
  const item = arbitraryOf({ allOf: items })
  const isSet = all('uniqueItems').includes(true)
  const rest = isSet
    ? fc.uniqueArray(item, { ...lengths, selector: stringify })
    : fc.array(item, lengths)
  return [fc.tuple(fc.tuple(...first), rest).map(([head, tail]) => [...head, ...tail])]
}

function objects(all: All): Values[] {
  const properties = all('properties').map(fields)
  const required = all('required').flat().map(String)
  const known = properties.flatMap((each) =>
    Object.keys(each).filter((name) => each[name] !== false),
  )
  const names = new Set([...required, ...known])
  const schemaOf = (name: string) => ({
    allOf: properties.flatMap((each) => (name in each ? [each[name]] : [])),
  })
  const members = Object.fromEntries([...names].map((name) => [name, arbitraryOf(schemaOf(name))]))
  const record = fc.record(members, { requiredKeys: required, noNullPrototype: true })
  const [others = {}] = [...all('additionalProperties'), ...all('unevaluatedProperties')]
  if (others === false) return [record]
  const another =
    isObject(others) && Object.keys(others).length > 0 ? arbitraryOf(others) : fc.constant('other')
  return [record, fc.tuple(record, another).map(([object, other]) => ({ ...object, other }))]
}

function dates(): fc.Arbitrary<string> {
  const [min, max] = [new Date('0001-01-01T00:00:00Z'), new Date('9999-12-31T00:00:00Z')]
  return fc.date({ min, max, noInvalidDate: true }).map((date) => date.toISOString())
}

const floor = (value: unknown) =>
  typeof value === 'bigint' ? value : BigInt(Math.floor(Number(value)))
const ceiling = (value: unknown) =>
  typeof value === 'bigint' ? value : BigInt(Math.ceil(Number(value)))
