// Evaluates a value by a schema: whether it is valid, and which schemas apply to which of its parts. These are the
// applicators, annotations and unevaluated parts of JSON Schema 2020-12 (sections 10, 7.7 and 11).
import { assertionsOf, has, isHolder, isObject, namesOf, toRegExp } from './assertions.ts'
import type { Formats, Keywords, Schema } from './schema.ts'
import { add, always, deepest, type Evaluate, fail, isValid, once, tryBranch } from './outcome.ts'
import { jointSchemas, reachable } from './joint-schemas.ts'

/**
 * Compiles a schema.
 * @param around the schemas around it that are about the same value; null below `not` and `if`
 */
export type Compile = (schema: Schema, around?: readonly Keywords[] | null) => Evaluate

/** All schemas that a value of a schema must fit. */
export type JointSchemasOf = (schema: unknown) => readonly Keywords[]

/** What only one side sends. */
export type Mark = 'readOnly' | 'writeOnly'

/**
 * Makes the function that compiles schemas.
 * @param schemas by id
 * @param changeOf what a schema changes; undefined if it changes nothing
 * @param marks of members that are not required
 */
export function compiler(
  schemas: Readonly<Record<string, Schema>>,
  changeOf: (schema: Keywords, jointSchemasOf: JointSchemasOf) => unknown,
  marks: readonly Mark[],
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
      marks.some((mark) => jointSchemasOf(member).some((each) => each[mark] === true))
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
      ...partsOf(
        schema,
        (each) => compile(each, outer && []),
        (each) => compile(each, null),
      ),
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
  if (anyOf) {
    const alternatives = anyOf.map((each) => ({ evaluate: compile(each) }))
    const text = 'must match a schema in anyOf'
    steps.push(choice(alternatives, { least: 1, most: Infinity, text }))
  }
  if (oneOf) {
    const alternatives = oneOf.map((each) => ({
      evaluate: compile(each),
      complete: condition(each),
    }))
    const text = 'must match exactly one schema in oneOf'
    steps.push(choice(alternatives, { least: 1, most: 1, text }))
  }
  if (not !== undefined) {
    const text = description ? `is invalid: ${description}` : 'must NOT be valid'
    steps.push(choice([{ evaluate: condition(not) }], { least: 0, most: 0, text }))
  }
  if (schema.if !== undefined) {
    const test = condition(schema.if)
    const branches = [compile(schema.then ?? true), compile(schema.else ?? true)] as const
    steps.push((value, place, outcome, evaluated) => {
      const tested = tryBranch(test, value, place, outcome, evaluated)
      const isThen = tested.fault === undefined
      if (isThen) add(outcome, tested, evaluated)
      return branches[isThen ? 0 : 1](value, place, outcome, evaluated)
    })
  }
  return steps
}

/** How many alternatives must be valid, and what is said if others are. */
interface Bounds {
  readonly least: number
  readonly most: number
  readonly text: string
}

/** A schema as it is, and with all that it requires, also of the other side. */
interface Alternative {
  readonly evaluate: Evaluate
  readonly complete?: Evaluate
}

/** From `least` to `most` alternatives must be valid. What is found in the others does not count. */
function choice(alternatives: readonly Alternative[], { least, most, text }: Bounds): Evaluate {
  return (value, place, outcome, evaluated) => {
    const tried = alternatives.map(({ evaluate, complete }) => ({
      branch: tryBranch(evaluate, value, place, outcome, evaluated),
      complete,
    }))
    const matching = tried.filter(({ branch }) => branch.fault === undefined)
    const valid = withinMost(
      most,
      matching,
      ({ complete }) => !complete || isValid(complete, value, place, outcome),
    )
    for (const { branch } of valid) add(outcome, branch, evaluated)
    if (valid.length >= least && valid.length <= most) return true
    if (matching.length >= least) return fail(outcome, { place, text })
    if (outcome.isLenient)
      for (const { evaluate } of alternatives) evaluate(value, place, outcome, evaluated)
    const faults = tried.flatMap(({ branch }) => branch.fault ?? [])
    return fail(outcome, deepest(faults) ?? { place, text })
  }
}

/**
 * What counts of all that is valid: where that is too much, only what is complete. So to leave out a member that only the
 * other side sends makes no value invalid.
 * @param isComplete whether it lacks no required member, also none that only the other side sends
 */
function withinMost<Valid>(
  most: number,
  valid: readonly Valid[],
  isComplete: (one: Valid) => boolean,
): readonly Valid[] {
  return valid.length <= most ? valid : valid.filter((one) => isComplete(one))
}

/** The keywords with schemas for members and items. @param condition see {@link sameValue} */
function partsOf(schema: Keywords, compile: CompileEach, condition: CompileEach): Evaluate[] {
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
  if (contains !== undefined) {
    const alternative = { evaluate: compile(contains), complete: condition(contains) }
    steps.push(containing(alternative, schema))
  }
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
  { evaluate, complete }: Required<Alternative>,
  { minContains: least = 1, maxContains: most = Infinity }: Keywords,
): Evaluate {
  const text = `must contain at least ${least}${most < Infinity ? ` and no more than ${most}` : ''} valid item(s)`
  return (value, place, outcome, evaluated) => {
    if (!Array.isArray(value)) return true
    const placeOf = (key: string) => ({ holder: value, key: Number(key), outer: place })
    const matching: string[] = []
    for (const key of Object.keys(value)) {
      const branch = tryBranch(evaluate, value[Number(key)], placeOf(key), outcome)
      if (branch.fault !== undefined) continue
      add(outcome, branch)
      evaluated?.add(key)
      matching.push(key)
    }
    const counted = withinMost(most, matching, (key) =>
      isValid(complete, value[Number(key)], placeOf(key), outcome),
    )
    const isRight = matching.length >= least && counted.length <= most
    return isRight || fail(outcome, { place, text })
  }
}
