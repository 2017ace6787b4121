// Evaluates a value by a schema: whether it is valid, and which schemas apply to which of its parts. These are the
// applicators, annotations and unevaluated parts of JSON Schema 2020-12 (sections 10, 7.7 and 11).
import {
  assertionsOf,
  type Formats,
  has,
  isHolder,
  isObject,
  namesOf,
  toRegExp,
} from './assertions.ts'
import type { Keywords, Schema } from './compiled.ts'
import { always, attempt, deepest, type Evaluate, fail, once } from './outcome.ts'
import { jointSchemas, reachable } from './joint-schemas.ts'

/**
 * Compiles a schema.
 * @param around the schemas around it that are about the same value; null below `not` and `if`
 */
export type Compile = (schema: Schema, around?: readonly Keywords[] | null) => Evaluate

/** All schemas that a value of a schema must fit. */
export type JointSchemasOf = (schema: unknown) => readonly Keywords[]

/**
 * Makes the function that compiles schemas.
 * @param schemas by id
 * @param changeOf what a schema changes; undefined if it changes nothing
 * @param mark of a member that only the other side sends: it is not required
 */
export function compiler(
  schemas: Readonly<Record<string, Schema>>,
  changeOf: (schema: Keywords, jointSchemasOf: JointSchemasOf) => unknown,
  mark: 'readOnly' | 'writeOnly' | undefined,
  formats: Formats,
): Compile {
  const [all, conditions] = [new Map<Keywords, Evaluate>(), new Map<Keywords, Evaluate>()]
  const recursive = new Map<string, boolean>()
  const targetOf = ({ $ref = '' }: Keywords) => schemas[$ref]
  const jointSchemasOf: JointSchemasOf = (schema) => jointSchemas(schema, targetOf)
  const compile: Compile = (schema, around = []) => {
    if (typeof schema === 'boolean') return always(schema)
    if (around !== null && around.length > 0) return whole(schema, around)
    const known = around === null ? conditions : all
    const evaluate = known.get(schema) ?? whole(schema, around)
    known.set(schema, evaluate)
    return evaluate
  }
  return compile

  function whole(schema: Keywords, outer: readonly Keywords[] | null): Evaluate {
    const { $ref, unevaluatedProperties, unevaluatedItems, required = [] } = schema
    const around = outer && [...outer, ...jointSchemasOf(schema)]
    const isHidden = (member: unknown) =>
      mark !== undefined && jointSchemasOf(member).some((each) => each[mark] === true)
    const isRequired = (name: string) =>
      around?.some((each) => rulesFor(each, name).some(isHidden)) !== true
    const hides = around?.some((each) => rulesFor(each).some(isHidden)) === true
    const steps = [
      ...assertionsOf(schema, required.filter(isRequired), formats),
      ...sameValue(
        schema,
        (each) => compile(each, around),
        (each) => compile(each, null),
      ),
      ...partsOf(schema, (each) => compile(each, outer && [])),
    ]
    if ($ref !== undefined) steps.unshift(reference($ref, hides ? around : outer && []))
    const change = changeOf(schema, jointSchemasOf)
    const isAsking = unevaluatedProperties !== undefined || unevaluatedItems !== undefined
    return (value, place, outcome, evaluated) => {
      if (change !== undefined) outcome.found.push({ change, value, place })
      const own = isAsking ? new Set<string>() : evaluated
      for (const step of steps) if (!step(value, place, outcome, own)) return false
      if (isAsking) own?.forEach((key) => evaluated?.add(key))
      return true
    }
  }

  /** The target is compiled when it is needed, because it may lead back here. */
  function reference(id: string, around: readonly Keywords[] | null): Evaluate {
    let target: Evaluate | undefined
    let isRecursive = false
    return (value, place, outcome, evaluated) => {
      if (target === undefined) {
        target = compile(schemas[id] ?? true, around)
        isRecursive = leadsBack(id)
      }
      if (isRecursive && isHolder(value)) return once(target, value, place, outcome, evaluated)
      return target(value, place, outcome, evaluated)
    }
  }

  /** Whether a schema leads back to itself. */
  function leadsBack(id: string): boolean {
    const isBack = (node: unknown) => isHolder(node) && '$ref' in node && node.$ref === id
    const isRecursive = recursive.get(id) ?? reachable(schemas[id], targetOf).some(isBack)
    recursive.set(id, isRecursive)
    return isRecursive
  }
}

/** The schemas of an object for a member of this name; for any member, if there is no name. */
function rulesFor(
  { properties = {}, patternProperties = {}, additionalProperties }: Keywords,
  name?: string,
): unknown[] {
  const named = Object.entries(properties).filter(([each]) => name === undefined || each === name)
  const matching = Object.entries(patternProperties).filter(
    ([each]) => name === undefined || toRegExp(each).test(name),
  )
  const all = [...named, ...matching].map(([, each]) => each)
  return name === undefined || all.length === 0 ? [...all, additionalProperties] : all
}

type CompileEach = (schema: Schema) => Evaluate

/** The keywords with schemas for the same value. @param condition compiles a schema that a valid value need not fit */
function sameValue(schema: Keywords, compile: CompileEach, condition: CompileEach): Evaluate[] {
  const {
    allOf = [],
    anyOf,
    oneOf,
    not,
    dependentSchemas = {},
    dependentRequired = {},
    description,
  } = schema
  const steps = allOf.map(compile)
  const names = Object.entries(dependentRequired).map(
    ([name, required]) => [name, { required }] as const,
  )
  for (const [name, each] of [...Object.entries(dependentSchemas), ...names]) {
    const evaluate = compile(each)
    steps.push((value, ...all) => !isObject(value) || !has(value, name) || evaluate(value, ...all))
  }
  if (anyOf) steps.push(choice(anyOf.map(compile), 1, Infinity, 'must match a schema in anyOf'))
  if (oneOf) steps.push(choice(oneOf.map(compile), 1, 1, 'must match exactly one schema in oneOf'))
  if (not !== undefined)
    steps.push(
      choice(
        [condition(not)],
        0,
        0,
        description ? `is invalid: ${description}` : 'must NOT be valid',
      ),
    )
  if (schema.if !== undefined) {
    const test = condition(schema.if)
    const branches = [compile(schema.then ?? true), compile(schema.else ?? true)] as const
    steps.push((...all) => branches[attempt(test, ...all) === undefined ? 0 : 1](...all))
  }
  return steps
}

/** From `least` to `most` alternatives must be valid. What is found in the others does not count. */
function choice(
  alternatives: readonly Evaluate[],
  least: number,
  most: number,
  text: string,
): Evaluate {
  return (value, place, outcome, evaluated) => {
    const faults = alternatives.flatMap(
      (each) => attempt(each, value, place, outcome, evaluated) ?? [],
    )
    const count = alternatives.length - faults.length
    if (count >= least && count <= most) return true
    if (outcome.isLenient && count < least)
      for (const each of alternatives) each(value, place, outcome, evaluated)
    return fail(outcome, (count < least && deepest(faults)) || { place, text })
  }
}

/** The keywords with schemas for members and items. */
function partsOf(schema: Keywords, compile: CompileEach): Evaluate[] {
  const {
    properties = {},
    patternProperties = {},
    prefixItems = [],
    contains,
    propertyNames,
  } = schema
  const steps: Evaluate[] = []
  const rules = (each: Schema | undefined) => (each === undefined ? NONE : [compile(each)])

  const named = new Map(Object.entries(properties).map(([name, each]) => [name, rules(each)]))
  const patterns = Object.entries(patternProperties).map(
    ([text, each]) => [toRegExp(text), compile(each)] as const,
  )
  const otherMembers = rules(schema.additionalProperties)
  const rulesOfMember: RulesOf = (key) => {
    const name = String(key)
    const own = named.get(name) ?? NONE
    if (patterns.length === 0) return own.length > 0 ? own : otherMembers
    const all = [...own, ...patterns.flatMap(([pattern, each]) => (pattern.test(name) ? each : []))]
    return all.length > 0 ? all : otherMembers
  }
  if (named.size + patterns.length + otherMembers.length > 0)
    steps.push(eachPart(false, rulesOfMember))

  const [firstItems, otherItems] = [prefixItems.map(rules), rules(schema.items)]
  if (firstItems.length + otherItems.length > 0)
    steps.push(eachPart(true, (index) => firstItems[Number(index)] ?? otherItems))
  if (contains !== undefined) steps.push(containing(compile(contains), schema))
  if (propertyNames !== undefined) {
    const evaluate = compile(propertyNames)
    steps.push(
      (value, ...all) => !isObject(value) || namesOf(value).every((name) => evaluate(name, ...all)),
    )
  }
  for (const keyword of ['unevaluatedProperties', 'unevaluatedItems'] as const) {
    const rest = rules(schema[keyword])
    const rulesOfRest: RulesOf = (key, evaluated) =>
      evaluated?.has(String(key)) === true ? NONE : rest
    if (rest.length > 0) steps.push(eachPart(keyword === 'unevaluatedItems', rulesOfRest))
  }
  return steps
}

/** The evaluations for a part of a value. */
type RulesOf = (key: string | number, evaluated?: ReadonlySet<string>) => readonly Evaluate[]
const NONE: readonly Evaluate[] = []

/** Evaluates each member of an object, or each item of a list. A member that is undefined is none: JSON leaves it out. */
function eachPart(isList: boolean, rulesOf: RulesOf): Evaluate {
  return (value, place, outcome, evaluated) => {
    if (!isHolder(value) || Array.isArray(value) !== isList) return true
    for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
      const part: unknown = Reflect.get(value, key)
      const rules = part === undefined && !isList ? NONE : rulesOf(key, evaluated)
      if (rules.length === 0) continue
      evaluated?.add(String(key))
      const at = { holder: value, key, outer: place }
      for (const rule of rules) if (!rule(part, at, outcome)) return false
    }
    return true
  }
}

function containing(
  evaluate: Evaluate,
  { minContains: least = 1, maxContains: most = Infinity }: Keywords,
): Evaluate {
  const text = `must contain at least ${least}${most < Infinity ? ` and no more than ${most}` : ''} valid item(s)`
  return (value, place, outcome, evaluated) => {
    if (!Array.isArray(value)) return true
    const placeOf = (key: string) => ({ holder: value, key: Number(key), outer: place })
    const isValid = (key: string) =>
      attempt(evaluate, value[Number(key)], placeOf(key), outcome) === undefined
    const valid = Object.keys(value).filter(isValid)
    for (const key of valid) evaluated?.add(key)
    return (valid.length >= least && valid.length <= most) || fail(outcome, { place, text })
  }
}
