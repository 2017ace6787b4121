// Changes valid values in order to violate each rule of a schema.
import { candidatesFor, LONGEST, ODD, type Rule, textsNear, withOthers } from './candidates.ts'
import { brief } from '../json/json.ts'
import { isNever, ownSchemas } from '@plant-store/compiler/for-testing'
import {
  faultsOf,
  fields,
  isObject,
  listOf,
  referred,
  type Schema,
  validatesTexts,
} from './schemas.ts'

/** A changed value, and its label. */
export type Mutant = readonly [label: string, value: unknown]

/** A rule without a violation, and the reason. */
export interface Skipped {
  readonly rule: string
  readonly reason: string
}

export interface Violations {
  /** Values which violate a rule, or nearly. Some of them are valid. */
  readonly mutants: readonly Mutant[]
  readonly skipped: readonly Skipped[]
}

/** The errors of a value as it is sent; none if it is valid or can't be sent. */
type Judge = (value: unknown) => ReturnType<typeof faultsOf>

export const NEVER_VIOLATED = 'no tried value violates it'

/** The most places to try a rule at. */
const MAX_PLACES = 20
/** The most odd values. */
const MAX_ODD = 1000

/**
 * Changes valid values at one place, in order to violate each rule of a schema; and to odd values of all types.
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

/** At most so many items, spread over a list. */
function spread<Item>(list: readonly Item[], most: number): Item[] {
  const step = Math.ceil(list.length / most)
  return list.filter((_, index) => index % step === 0)
}

const same = (value: unknown) => value

const mutantsAt = ({ at, value, put }: Place, rule: Rule): Mutant[] =>
  candidatesFor(rule, value).map((candidate) => [`${at} = ${brief(candidate)}`, put(candidate)])

/** Whether an error is the violation of a rule. */
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
  if (!isReached) return 'no generated value has this part: give an example'
  const isOfTexts = listOf(schema['types'] ?? ['string']).includes('string')
  if (keyword === 'format' && !(isOfTexts && validatesTexts(String(bound))))
    return 'the format validates nothing here'
  if (/^max(Length|Items|Properties)$/.test(keyword) && Number(bound) >= LONGEST.list)
    return 'what is longer can not be sent'
  return NEVER_VIOLATED
}

/** The rules of a schema, without those in `not`, `if`, `contains` and `propertyNames`. */
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

/** The keywords with rules in their schemas. */
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
interface ValuePart {
  /** Its place; `*` for any item. */
  readonly at: string
  readonly value: unknown
  /** Makes the whole value, with another part in this place. */
  readonly put: (value: unknown) => unknown
}
interface Place extends ValuePart {
  /** A schema of this part. */
  readonly schema: Schema
}

/** The parts of a value, each with its schemas, in one alternative or another. */
function* placesIn(schema: unknown, part: ValuePart): Generator<Place> {
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
  { at, value, put }: ValuePart & { readonly value: Record<string, unknown> },
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
  { at, value, put }: ValuePart & { readonly value: unknown[] },
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

/** A part changed to odd values of all types. */
function oddAt({ at, value, put }: Place): Mutant[] {
  const changes = [
    ...[...ODD, [value]],
    ...(typeof value === 'string' ? textsNear(value, 0) : []),
    ...(isObject(value) ? withOthers(value) : []),
  ]
  return changes.map((changed) => [`${at} = ${brief(changed)}`, put(changed)])
}
