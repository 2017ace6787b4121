// Evaluates a value by a schema: whether it is valid, and which schemas apply to which of its parts. These are the
// applicators, annotations and unevaluated parts of JSON Schema 2020-12 (sections 10, 7.7 and 11).
import {
  assertionsOf,
  type Evaluate,
  fail,
  type Fault,
  type Formats,
  isObject,
  type Outcome,
  type Place,
  toRegExp,
} from './assertions.ts'
import type { Keywords, Schema } from './compiled.ts'

/** Compiles a schema. */
export type Compile = (schema: Schema) => Evaluate

/**
 * Makes the function that compiles schemas.
 * @param schemas by id
 * @param isWanted whether to find a schema
 */
export function compiler(
  schemas: Readonly<Record<string, Schema>>,
  isWanted: (schema: Keywords) => boolean,
  formats: Formats,
): Compile {
  const known = new Map<Schema, Evaluate>()
  const compile: Compile = (schema) => {
    const evaluate = known.get(schema) ?? (typeof schema === 'boolean' ? always(schema) : whole(schema))
    known.set(schema, evaluate)
    return evaluate
  }
  return compile

  function whole(schema: Keywords): Evaluate {
    const { $ref, unevaluatedProperties, unevaluatedItems } = schema
    const steps = [...assertionsOf(schema, formats), ...sameValue(schema, compile), ...parts(schema, compile)]
    if ($ref !== undefined) steps.unshift(reference($ref))
    const isFound = isWanted(schema)
    const isAsking = unevaluatedProperties !== undefined || unevaluatedItems !== undefined
    return (value, place, outcome, evaluated) => {
      if (isFound) outcome.found.push({ schema, value, place })
      const own = isAsking ? new Set<string>() : evaluated
      for (const step of steps) if (!step(value, place, outcome, own)) return false
      if (isAsking) own?.forEach((key) => evaluated?.add(key))
      return true
    }
  }

  /** The target is compiled when it is needed: it may lead back here. */
  function reference(id: string): Evaluate {
    let target: Evaluate | undefined
    return (value, place, outcome, evaluated) => {
      target ??= compile(schemas[id] ?? true)
      return target(value, place, outcome, evaluated)
    }
  }
}

/** The keywords with schemas for the same value. */
function sameValue(schema: Keywords, compile: Compile): Evaluate[] {
  const { allOf = [], anyOf, oneOf, not, if: condition, dependentSchemas = {}, description } = schema
  const steps = allOf.map(compile)
  for (const [name, each] of Object.entries(dependentSchemas)) {
    const evaluate = compile(each)
    steps.push((value, ...all) => !isObject(value) || !Object.hasOwn(value, name) || evaluate(value, ...all))
  }
  if (anyOf) steps.push(choice(anyOf.map(compile), 1, Infinity, 'must match a schema in anyOf'))
  if (oneOf) steps.push(choice(oneOf.map(compile), 1, 1, 'must match exactly one schema in oneOf'))
  if (not !== undefined)
    steps.push(choice([compile(not)], 0, 0, description ? `is invalid: ${description}` : 'must NOT be valid'))
  if (condition !== undefined) {
    const [test, ...branches] = [
      compile(condition),
      compile(schema.then ?? true),
      compile(schema.else ?? true),
    ] as const
    steps.push((...all) => branches[attempt(test, ...all) === undefined ? 0 : 1](...all))
  }
  return steps
}

/** A number of alternatives must be valid. What is found in the others does not count. */
function choice(alternatives: readonly Evaluate[], least: number, most: number, text: string): Evaluate {
  return (value, place, outcome, evaluated) => {
    const faults = alternatives.flatMap((each) => attempt(each, value, place, outcome, evaluated) ?? [])
    const count = alternatives.length - faults.length
    if (count >= least && count <= most) return true
    return fail(outcome, (count < least && deepest(faults)) || { place, keyword: 'choice', text })
  }
}

/** The keywords with schemas for members and items. */
function parts(schema: Keywords, compile: Compile): Evaluate[] {
  const { properties, patternProperties, additionalProperties, propertyNames, prefixItems, items, contains } = schema
  const steps: Evaluate[] = []
  if ((properties ?? patternProperties ?? additionalProperties) !== undefined)
    steps.push(eachPart(false, rulesOfMembers(schema, compile)))
  if ((prefixItems ?? items) !== undefined) steps.push(eachPart(true, rulesOfItems(schema, compile)))
  if (contains !== undefined) steps.push(containing(compile(contains), schema))
  if (propertyNames !== undefined) {
    const evaluate = compile(propertyNames)
    steps.push((value, ...all) => !isObject(value) || Object.keys(value).every((name) => evaluate(name, ...all)))
  }
  for (const keyword of ['unevaluatedProperties', 'unevaluatedItems'] as const) {
    const rest = schema[keyword]
    if (rest === undefined) continue
    const rules = [compile(rest)]
    const rulesOf: RulesOf = (key, evaluated) => (evaluated?.has(key) === true ? NONE : rules)
    steps.push(eachPart(keyword === 'unevaluatedItems', rulesOf))
  }
  return steps
}

/** The evaluations for a part of a value. */
type RulesOf = (key: string, evaluated?: ReadonlySet<string>) => readonly Evaluate[]
const NONE: readonly Evaluate[] = []

function rulesOfMembers(schema: Keywords, compile: Compile): RulesOf {
  const { properties = {}, patternProperties = {}, additionalProperties = true } = schema
  const named = new Map(Object.entries(properties).map(([name, each]) => [name, [compile(each)]]))
  const patterns = Object.entries(patternProperties).map(([text, each]) => [toRegExp(text), compile(each)] as const)
  const others = schema.additionalProperties === undefined ? NONE : [compile(additionalProperties)]
  return (key) => {
    const own = named.get(key) ?? NONE
    if (patterns.length === 0) return own.length > 0 ? own : others
    const all = [...own, ...patterns.flatMap(([pattern, each]) => (pattern.test(key) ? each : []))]
    return all.length > 0 ? all : others
  }
}

function rulesOfItems({ prefixItems = [], items }: Keywords, compile: Compile): RulesOf {
  const first = prefixItems.map((each) => [compile(each)])
  const others = items === undefined ? NONE : [compile(items)]
  return (key) => first[Number(key)] ?? others
}

/** Evaluates each member of an object, or each item of a list. A member that is undefined is none: JSON leaves it out. */
function eachPart(isList: boolean, rulesOf: RulesOf): Evaluate {
  return (value, place, outcome, evaluated) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value) !== isList) return true
    for (const name of Object.keys(value)) {
      const part: unknown = Reflect.get(value, name)
      const rules = part === undefined && !isList ? NONE : rulesOf(name, evaluated)
      if (rules.length === 0) continue
      evaluated?.add(name)
      const at = { holder: value, key: isList ? Number(name) : name, outer: place }
      for (const rule of rules) if (!rule(part, at, outcome)) return false
    }
    return true
  }
}

function containing(evaluate: Evaluate, { minContains: least = 1, maxContains: most = Infinity }: Keywords): Evaluate {
  const text = `must contain at least ${least}${most < Infinity ? ` and no more than ${most}` : ''} valid item(s)`
  return (value, place, outcome, evaluated) => {
    if (!Array.isArray(value)) return true
    const placeOf = (key: string) => ({ holder: value, key: Number(key), outer: place })
    const isValid = (key: string) => attempt(evaluate, value[Number(key)], placeOf(key), outcome) === undefined
    const valid = Object.keys(value).filter(isValid)
    for (const key of valid) evaluated?.add(key)
    return (valid.length >= least && valid.length <= most) || fail(outcome, { place, keyword: 'contains', text })
  }
}

/** Evaluates a value that need not be valid. @returns its fault. If there is none, what is found counts */
function attempt(evaluate: Evaluate, value: unknown, place: Place, outcome: Outcome, evaluated?: Set<string>) {
  const failed = (outcome.failed ??= new Map<unknown, Map<Evaluate, Fault>>())
  const known = failed.get(value) ?? new Map<Evaluate, Fault>()
  const inner: Outcome = { found: [], failed }
  const keys = evaluated && new Set<string>()
  if (!known.has(evaluate) && evaluate(value, place, inner, keys)) {
    for (const each of inner.found) outcome.found.push(each)
    keys?.forEach((key) => evaluated?.add(key))
    return undefined
  }
  const fault = known.get(evaluate) ?? inner.fault
  if (fault && typeof value === 'object') failed.set(value, known.set(evaluate, fault))
  return fault
}

/** Evaluates by `true` or `false`. Where nothing may be, the fault is that of the object or the list. */
function always(isValid: boolean): Evaluate {
  return (_value, place, outcome) => {
    if (isValid) return true
    const noun = typeof place.key === 'number' ? 'item' : 'property'
    const text = `must not have the ${noun} ${String(place.key).slice(0, 100)}`
    return fail(outcome, { place: place.outer ?? place, keyword: 'false', text })
  }
}

/** Chooses the fault to report of alternatives: the deepest one. `enum` and `const` only tell alternatives apart. */
function deepest(faults: readonly Fault[]): Fault | undefined {
  const rank = ({ place, keyword }: Fault) => (/^(enum|const)$/.test(keyword) ? 0 : 1 + levelOf(place))
  const [first, second] = faults.toSorted((a, b) => rank(b) - rank(a))
  return first !== undefined && (second === undefined || rank(first) > rank(second)) ? first : undefined
}

export const levelOf = ({ outer }: Place): number => (outer === undefined ? 0 : 1 + levelOf(outer))
