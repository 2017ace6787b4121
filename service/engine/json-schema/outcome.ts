// What the evaluation of a value comes to: whether it is valid, what is wrong with it, and what was found in it.

/** Where a part is: the object or the list that it is in, with the name of the member or the index of the item. */
export interface Place {
  readonly holder: object
  readonly key: string | number
  /** The place of the holder. The place of a whole value has none. */
  readonly outer?: Place
}

export interface Fault {
  readonly place: Place
  readonly text: string
  /** Whether it is of `enum` or `const`, which often only tell alternatives apart. */
  readonly isTag?: boolean
}

/** What the evaluation of a value comes to. */
export interface Outcome<Change = unknown> {
  readonly found: Found<Change>
  fault?: Fault
  /** Whether evaluation goes on after a fault, so that everything that applies is found. */
  readonly isLenient: boolean
  memory?: Memory
}

/** What an evaluation remembers of objects and lists, because several schemas may ask for it. */
interface Memory {
  /** What they come to, by whether evaluation went on after a fault: see {@link once}. */
  readonly strict: Attempts
  readonly lenient: Attempts
  /** Their identities, also by their contents: equal ones share one. */
  readonly identities: Map<object | string, string>
}

export const memoryOf = (outcome: Outcome) =>
  (outcome.memory ??= { strict: new Map(), lenient: new Map(), identities: new Map() })

/** The parts that schemas change, if they are valid. A list in it was found by a branch: to copy it would take too long. */
export type Found<Change = unknown> = (Match<Change> | Found<Change>)[]

export interface Match<Change> {
  readonly change: Change
  readonly value: unknown
  readonly place: Place
}

/**
 * What a schema comes to, by the holder of a part, and by its key there. Not by the part itself: a method may answer with
 * one object at several places.
 */
type Attempts = Map<Evaluate, Map<object, Map<Place['key'], Branch>>>

/**
 * Evaluates a value, or a part of one.
 * @param evaluated gets the keys of the parts that have been evaluated, if `unevaluatedProperties` or `unevaluatedItems` asks
 * @returns whether it is valid. If not, the outcome has a fault
 */
export type Evaluate = (
  value: unknown,
  place: Place,
  outcome: Outcome,
  evaluated?: Set<string>,
) => boolean

/** Notes a fault. @returns whether to go on after it */
export function fail(outcome: Outcome, fault: Fault): boolean {
  outcome.fault = fault
  return outcome.isLenient
}

/** What a branch comes to: a schema that a valid value need not fit. */
export interface Branch extends Outcome {
  readonly keys: Set<string> | undefined
}

/** Evaluates a value that need not be valid. What is found counts only if it is added: see {@link add} */
export function tryBranch(
  evaluate: Evaluate,
  value: unknown,
  place: Place,
  outcome: Outcome,
  evaluated?: Set<string>,
): Branch {
  const keys = evaluated && new Set<string>()
  const branch = { found: [], memory: memoryOf(outcome), isLenient: false, keys }
  evaluate(value, place, branch, keys)
  return branch
}

/** Whether a value is valid. */
export const isValid = (evaluate: Evaluate, value: unknown, place: Place, outcome: Outcome) =>
  tryBranch(evaluate, value, place, outcome).fault === undefined

/** Evaluates a part, if that is not known yet. Without this, a schema that leads back to itself could take exponential time. */
export function once(
  evaluate: Evaluate,
  value: object,
  place: Place,
  outcome: Outcome,
  evaluated?: Set<string>,
): boolean {
  const { isLenient } = outcome
  const memory = memoryOf(outcome)
  const attempts = isLenient ? memory.lenient : memory.strict
  const holders = attempts.get(evaluate) ?? new Map<object, Map<Place['key'], Branch>>()
  const parts = holders.get(place.holder) ?? new Map<Place['key'], Branch>()
  // Before the evaluation, which asks for the parts of the value.
  attempts.set(evaluate, holders.set(place.holder, parts))
  let made = parts.get(place.key)
  if (made === undefined || (evaluated && !made.keys)) {
    made = { found: [], memory, isLenient, keys: evaluated && new Set() }
    evaluate(value, place, made, made.keys)
    parts.set(place.key, made)
  }
  if (made.fault && !fail(outcome, made.fault)) return false
  add(outcome, made, evaluated)
  return true
}

/** Lets what was found by a branch count. */
export function add(outcome: Outcome, { found, keys }: Branch, evaluated?: Set<string>): void {
  if (found.length > 0) outcome.found.push(found)
  keys?.forEach((key) => evaluated?.add(key))
}

/** Evaluates by the schema `true` or `false`. A fault is reported of the object or the list around the value. */
export function always(isValid: boolean): Evaluate {
  return (_value, place, outcome) => {
    if (isValid) return true
    const noun = typeof place.key === 'number' ? 'item' : 'property'
    const text = `must not have the ${noun} ${String(place.key).slice(0, 100)}`
    return fail(outcome, { place: place.outer ?? place, text })
  }
}

/** Chooses the fault to report of alternatives: the deepest one. `enum` and `const` only tell alternatives apart. */
export function deepest(faults: readonly Fault[]): Fault | undefined {
  const rank = ({ place, isTag }: Fault) => (isTag === true ? 0 : 1 + levelOf(place))
  const [first, second] = faults.toSorted((a, b) => rank(b) - rank(a))
  return first !== undefined && (second === undefined || rank(first) > rank(second))
    ? first
    : undefined
}

export const levelOf = ({ outer }: Place): number => (outer === undefined ? 0 : 1 + levelOf(outer))
