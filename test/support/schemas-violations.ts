import { brief, toInteger } from './json.ts'
import { isNever, ownSchemas, samplesOf } from './schemas-arbitrary.ts'
import {
  faultsOf,
  fields,
  isObject,
  isValid,
  listOf,
  RANGES,
  referred,
  type Schema,
  validatesTexts,
} from './schemas.ts'

/** A rule of a schema: a keyword, or a name of `required` or `dependentRequired`. */
interface Rule {
  /** Where it stands. The target of a reference stands where the first reference to it does. */
  readonly pointer: string
  readonly schema: Schema
  readonly keyword: string
  /** A member that is required, and the one beside which it is. */
  readonly name?: string
  readonly beside?: string
}

/** A changed value, and what was changed. */
export type Mutant = readonly [label: string, value: unknown]

/** A rule that nothing violates, and why. */
export interface Skipped {
  readonly rule: string
  readonly reason: string
}

export interface Violations {
  /** Values that violate a rule, or are about to. Some of them are valid. */
  readonly mutants: readonly Mutant[]
  readonly skipped: readonly Skipped[]
}

/** What is wrong with a value as it is sent. Nothing, if it is valid or can't be sent. */
type Judge = (value: unknown) => ReturnType<typeof faultsOf>

export const NEVER_VIOLATED = 'nothing that was tried violates it'

/** The longest text, and the most items or members, of a violation. */
const LONGEST = { text: 2 ** 20, list: 20_000 }
/** The most places at which a rule is tried. */
const MAX_PLACES = 20
/** The most odd values. */
const MAX_ODD = 1000

const TEXTS = [
  ...['', ' ', 'x', 'X', 'É', '7', '-', '_', '!', 'a b', 'null', '日本', '(', '\0', '\n', '\uD800'],
  ...['\uDFFF', '🌱'],
]
/** A value of each type, and odd ones: they replace a part of a valid value, for any schema. */
const ODD = [null, true, false, 0, 1, -1, 1.5, ...TEXTS, [], {}]

/**
 * Changes valid values at one place, so that each rule of a schema is violated; and to odd values of all types.
 * @param values valid ones; without any, null is changed
 */
export function violationsOf(
  schema: Schema,
  values: readonly unknown[],
  judge: Judge = (value) => faultsOf(schema, value),
): Violations {
  const bases = values.length > 0 ? values : [null]
  const places = bases.flatMap((value) => [...placesIn(schema, { at: '', value, put: same })])
  const bySchema = Map.groupBy(places, (place) => place.schema)
  const mutants: Mutant[] = []
  const skipped: Skipped[] = []
  for (const rule of rulesOf(schema)) {
    const own = bySchema.get(rule.schema) ?? []
    const tried = spread(own, MAX_PLACES).map((place) => mutantsAt(place, rule))
    const violating = tried.find((mutants) =>
      mutants.some(([, value]) => judge(value).some(isOf(rule))),
    )
    mutants.push(...(violating ?? tried[0] ?? []))
    if (violating === undefined)
      skipped.push({ rule: rule.pointer, reason: reasonOf(rule, own.length > 0) })
  }
  const firsts = new Map(places.toReversed().map((place) => [place.at, place]))
  const odd = [...firsts.values()].flatMap(oddAt)
  return { mutants: [...mutants, ...spread(odd, MAX_ODD)], skipped }
}

/** At most so many of a list, from all of it. */
function spread<Item>(list: readonly Item[], most: number): Item[] {
  const step = Math.ceil(list.length / most)
  return list.filter((_, index) => index % step === 0)
}

const same = (value: unknown) => value

const mutantsAt = ({ at, value, put }: Place, rule: Rule): Mutant[] =>
  candidatesFor(rule, value).map((candidate) => [`${at} = ${brief(candidate)}`, put(candidate)])

/** Whether a fault is the violation of a rule. */
function isOf({ schema, keyword, name, beside }: Rule) {
  const reported = keyword.endsWith('Contains') ? 'contains' : keyword
  return ({ parentSchema, keyword: violated, params }: ReturnType<Judge>[number]) =>
    parentSchema === schema &&
    violated === reported &&
    (name === undefined || params['missingProperty'] === name) &&
    (beside === undefined || params['property'] === beside)
}

function reasonOf({ schema, keyword }: Rule, isReached: boolean): string {
  const bound = schema[keyword]
  if (!isReached) return 'no valid value that was made has this part: give an example'
  const isOfTexts = listOf(schema['types'] ?? ['string']).includes('string')
  if (keyword === 'format' && !(isOfTexts && validatesTexts(String(bound))))
    return 'the format validates nothing here'
  if (/^max(Length|Items|Properties)$/.test(keyword) && Number(bound) >= LONGEST.list)
    return 'what is longer can not be sent'
  return NEVER_VIOLATED
}

/** The rules of a schema. What is in `not`, `if`, `contains` and `propertyNames` is no rule of its own. */
function rulesOf(schema: Schema): Rule[] {
  const seen = new Set<Schema>()
  return [...within(schema, '')]

  function* within(node: unknown, at: string): Generator<Rule> {
    if (!isObject(node) || seen.has(node)) return
    seen.add(node)
    yield* within(referred(node), at)
    for (const [keyword, value] of Object.entries(node)) {
      const pointer = `${at}/${keyword === 'types' ? 'type' : keyword}`
      for (const named of rulesIn(keyword, value))
        yield {
          pointer: [pointer, ...Object.values(named)].join('/'),
          schema: node,
          keyword,
          ...named,
        }
      if (!WITH_RULES.test(keyword)) continue
      const isOne = isObject(value) && !/^(p\w+P|p)roperties$|^dependentSchemas$/.test(keyword)
      if (isOne) yield* within(value, pointer)
      else
        for (const [name, part] of Object.entries(fields(value)))
          yield* within(part, `${pointer}/${name}`)
    }
  }
}

/** The keywords whose schemas have rules. */
const WITH_RULES =
  /^(allOf|anyOf|oneOf|then|else|dependentSchemas|properties|patternProperties|additionalProperties|unevaluatedProperties|items|prefixItems|unevaluatedItems)$/
const SETS_NO_RULE =
  /^(\$ref|if|examples?|default|content\w+|minContains|(then|else|allOf|dependentSchemas|items|prefixItems|(patternP|p)roperties): .*|(additional|unevaluated)\w+: (true|\[object Object\])|min(Length|Items|Properties): 0|uniqueItems: false)$/

/** The rules of a keyword: none, one, or one for each name. */
function rulesIn(keyword: string, value: unknown): Pick<Rule, 'name' | 'beside'>[] {
  if (keyword === 'required') return listOf(value).map((name) => ({ name: String(name) }))
  if (keyword === 'dependentRequired')
    return Object.entries(fields(value)).flatMap(([beside, names]) =>
      listOf(names).map((name) => ({ beside, name: String(name) })),
    )
  const isNone = SETS_NO_RULE.test(keyword) || SETS_NO_RULE.test(`${keyword}: ${String(value)}`)
  return isNone ? [] : [{}]
}

/** A part of a value, or an absent one: its value is undefined. */
interface Part {
  /** Where it is; `*` for any item. */
  readonly at: string
  readonly value: unknown
  /** Makes the whole value with another one in its place. */
  readonly put: (value: unknown) => unknown
}
interface Place extends Part {
  /** A schema that is for this part. */
  readonly schema: Schema
}

/** The parts of a value, each with the schemas that are for it, in one alternative or another. */
function* placesIn(schema: unknown, part: Part): Generator<Place> {
  if (!isObject(schema)) return
  yield { ...part, schema }
  const { value } = part
  const alternatives = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => listOf(schema[keyword]))
  const dependents = Object.entries(fields(schema['dependentSchemas'])).flatMap(([name, schema]) =>
    isObject(value) && name in value ? [schema] : [],
  )
  const joint = [referred(schema), schema['then'], schema['else'], ...alternatives, ...dependents]
  for (const branch of joint) yield* placesIn(branch, part)
  if (isObject(value)) yield* membersIn(schema, { ...part, value })
  if (Array.isArray(value)) yield* itemsIn(schema, { ...part, value })
}

function* membersIn(
  schema: Schema,
  { at, value, put }: Part & { readonly value: Record<string, unknown> },
): Generator<Place> {
  const forbidden = Object.entries(fields(schema['properties'])).flatMap(([name, member]) =>
    isNever(member) ? [name] : [],
  )
  for (const name of new Set([...Object.keys(value), ...forbidden])) {
    const own = ownSchemas(schema, name)
    const member = {
      at: `${at}/${name}`,
      value: value[name],
      put: (changed: unknown) => put({ ...value, [name]: changed }),
    }
    for (const rule of own.length > 0 ? own : [schema['unevaluatedProperties']])
      yield* placesIn(rule, member)
  }
}

function* itemsIn(
  schema: Schema,
  { at, value, put }: Part & { readonly value: unknown[] },
): Generator<Place> {
  const first = listOf(schema['prefixItems'])
  const rest = schema['items'] ?? schema['unevaluatedItems']
  const last = Math.max(first.length, 2) + (isNever(rest) ? 1 : 0)
  for (const index of Array.from({ length: last }, (_, at) => at)) {
    const own = index < first.length ? first[index] : rest
    if (index >= value.length && !(index === value.length && isNever(own))) return
    const item = {
      at: `${at}/${index < first.length ? index : '*'}`,
      value: value[index],
      put: (changed: unknown) => put(value.toSpliced(index, 1, changed)),
    }
    yield* placesIn(own, item)
  }
}

/** The values of a part that may violate a rule, or are just valid. */
function candidatesFor(rule: Rule, value: unknown): unknown[] {
  const { schema, keyword } = rule
  const bound = schema[keyword]
  if (REQUIRED.includes(keyword)) return withoutMember(rule, value)
  const ofText = OF_TEXTS[keyword]
  if (typeof value === 'string' && ofText) return ofText(value, Number(bound))
  const ofList = OF_LISTS[keyword]
  if (Array.isArray(value) && ofList) return ofList(value, schema, Number(bound))
  const ofObject = OF_OBJECTS[keyword]
  if (isObject(value) && ofObject) return ofObject(value, schema, Number(bound))
  return OF_ANY[keyword]?.(bound, value) ?? []
}

const REQUIRED = ['required', 'dependentRequired']

/** An object without a member that is required, but with the one beside which it is. */
function withoutMember({ schema, name = '', beside = '' }: Rule, value: unknown): unknown[] {
  if (!isObject(value)) return []
  const { [name]: _, ...rest } = value
  const isComplete = beside === '' || beside in rest
  return [isComplete ? rest : { ...rest, [beside]: sampleFor(schema, beside) }]
}

/** A valid value of a member. */
function sampleFor(schema: Schema, name: string): unknown {
  const [sample = null] = ownSchemas(schema, name)
    .filter(isObject)
    .flatMap((member) => samplesOf(member))
  return sample
}

const OF_ANY: Readonly<Record<string, (bound: unknown, value: unknown) => unknown[]>> = {
  types: (types) => [
    ...[null, true, 1, 1.5, 'x', [], {}],
    ...listOf(types).flatMap((type) => (RANGES[String(type)] ?? []).flatMap(around)),
  ],
  minimum: around,
  maximum: around,
  exclusiveMinimum: around,
  exclusiveMaximum: around,
  multipleOf: (unit, value) => [Number(value) + Number(unit) / 2, Number(unit) * 1.5, 1, 0.1],
  enum: (values, value) => [...listOf(values), ...ODD, ...near(value)],
  const: (only, value) => [only, ...ODD, ...near(value)],
  not: (schema, value) =>
    [...ODD, ...samplesOf(fields(schema), 3)].flatMap((candidate) => [
      candidate,
      ...joined(value, candidate),
    ]),
  anyOf: () => ODD,
  oneOf: (schemas, value) => {
    const samples = listOf(schemas)
      .filter(isObject)
      .flatMap((schema) => samplesOf(schema, 2))
    return [...ODD, ...samples.flatMap((candidate) => [candidate, ...joined(value, candidate)])]
  },
}

/** Values that differ a little from one. */
const near = (value: unknown): unknown[] =>
  typeof value === 'string' ? [`${value}x`, value.toUpperCase(), value.toLowerCase()] : []

/** An object with the members of another one. */
const joined = (value: unknown, second: unknown) =>
  isObject(value) && isObject(second) ? [{ ...value, ...second }] : []

/** The numbers at a bound. */
function around(bound: unknown): unknown[] {
  if (typeof bound === 'number' && !Number.isSafeInteger(bound))
    return [bound - 1, bound, bound + 1, bound * 2, bound / 2]
  if (typeof bound !== 'number' && typeof bound !== 'bigint') return []
  return [-1n, 0n, 1n].map((step) => toInteger(BigInt(bound) + step))
}

type TextChange = (text: string, bound: number) => string[]

const textsNear: TextChange = (text) => [
  ...TEXTS,
  ...['\n', 'x', '\0', '\uD83C', ' ', '!'].flatMap((more) => [text + more, more + text]),
  ...[text.slice(1), text.slice(0, -1), text.toUpperCase(), text.toLowerCase()],
]

const OF_TEXTS: Readonly<Record<string, TextChange>> = {
  pattern: textsNear,
  format: textsNear,
  minLength: (text, bound) => textsOf(text, [bound - 1, bound]),
  maxLength: (text, bound) => textsOf(text, [bound, bound + 1]),
}

/** Texts of some lengths, of what a text has, and of characters beyond 16 bits. */
function textsOf(text: string, lengths: readonly number[]): string[] {
  const right = lengths.filter((length) => length >= 0 && length <= LONGEST.text)
  return right.flatMap((length) => {
    const own = text === '' ? 'x' : text
    const repeated = own.repeat(Math.ceil(length / Array.from(own).length))
    const characters = Array.from(repeated.slice(0, 2 * length)).slice(0, length)
    return [
      characters.join(''),
      'x'.repeat(length),
      ...(length < 5000 ? ['🌱'.repeat(length)] : []),
    ]
  })
}

type ListChange = (items: unknown[], schema: Schema, bound: number) => unknown[]

const OF_LISTS: Readonly<Record<string, ListChange>> = {
  minItems: (items, _, bound) => [items.slice(0, bound - 1), items.slice(0, bound)],
  maxItems: (items, schema, bound) => {
    const lengths = [bound, bound + 1].filter((length) => length <= LONGEST.list)
    return lengths.map((length) => repeated(items, schema, length))
  },
  uniqueItems: (items, schema) => [repeated(items, schema, Math.max(2, items.length + 1))],
  unevaluatedItems: (items) => [1, 2, 9].map((more) => [...items, ...Array<null>(more).fill(null)]),
  contains: (items, { contains }) => [
    ...[[], [null], items.slice(0, 1)],
    items.filter((item) => !isValid(fields(contains), item)),
  ],
  maxContains: (items, { contains }, bound) => {
    const wanted = items.filter((item) => isValid(fields(contains), item))
    return [[...items, ...Array<unknown>(bound + 1).fill(wanted[0])]]
  },
}

/** A list with as many items: those that it has again, or a valid one. */
function repeated(items: readonly unknown[], schema: Schema, length: number): unknown[] {
  const own = fields(schema['items'])
  const samples = items.length > 0 ? items : [...samplesOf(own), null].slice(0, 1)
  return Array.from({ length }, (_, index) => samples[index % samples.length])
}

type ObjectChange = (object: Record<string, unknown>, schema: Schema, bound: number) => unknown[]

const OF_OBJECTS: Readonly<Record<string, ObjectChange>> = {
  additionalProperties: (object) => [...withOthers(object), { ...object, toString: 1 }],
  unevaluatedProperties: withOthers,
  propertyNames: (object, schema) => {
    const long = Number(fields(schema['propertyNames'])['maxLength'] ?? 0) + 1
    const names = [...TEXTS, ...textsOf('x', [long]), ...Object.keys(object).flatMap(near)]
    return names.map((name) => ({ ...object, [String(name)]: sampleFor(schema, String(name)) }))
  },
  minProperties: (object, _, bound) =>
    [bound - 1, bound].map((count) => Object.fromEntries(Object.entries(object).slice(0, count))),
  maxProperties: (object, schema, bound) => {
    const [member = sampleFor(schema, 'more')] = Object.values(object)
    const missing = Math.max(0, bound + 1 - Object.keys(object).length)
    if (missing > LONGEST.list) return []
    const others = Array.from({ length: missing }, (_, index) => [`more${index}`, member] as const)
    return [{ ...object, ...Object.fromEntries(others) }]
  },
}

/** An object with a member that has another name. */
function withOthers(object: Record<string, unknown>): unknown[] {
  const names = ['another', '', ...Object.keys(object).map((name) => name.toUpperCase())]
  return names.map((name) => ({ ...object, [name]: Object.values(object)[0] ?? 1 }))
}

/** A part changed to odd values of all types. */
function oddAt({ at, value, put }: Place): Mutant[] {
  const changes = [
    ...[...ODD, [value]],
    ...(typeof value === 'string' ? textsNear(value, 0) : []),
    ...(isObject(value) ? withOthers(value) : []),
  ]
  return changes.map((changed) => [`${at} = ${brief(changed)}`, put(changed)])
}
