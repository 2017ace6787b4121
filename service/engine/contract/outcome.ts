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
  /** What they come to: see {@link once}. */
  readonly attempts: Map<Evaluate, Map<object, Attempt>>
  /** Their identities, also by their contents: equal ones share one. */
  readonly identities: Map<object | string, string>
}

export const memoryOf = (outcome: Outcome) =>
  (outcome.memory ??= { attempts: new Map(), identities: new Map() })

/** The parts that schemas change, if they are valid. A list in it was found by an attempt: to copy it would take too long. */
export type Found<Change = unknown> = (Match<Change> | Found<Change>)[]

export interface Match<Change> {
  readonly change: Change
  readonly value: unknown
  readonly place: Place
}

/** What a part comes to at a place. */
interface Attempt extends Outcome {
  readonly place: Place
  readonly keys: Set<string> | undefined
}

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

/** Evaluates a value that need not be valid. @returns its fault. If there is none, what is found counts */
export function attempt(
  evaluate: Evaluate,
  value: unknown,
  place: Place,
  outcome: Outcome,
  evaluated?: Set<string>,
): Fault | undefined {
  const made: Outcome = { found: [], memory: memoryOf(outcome), isLenient: false }
  const keys = evaluated && new Set<string>()
  evaluate(value, place, made, keys)
  if (made.fault) return made.fault
  add(outcome, made, evaluated, keys)
  return undefined
}

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
  const known = memory.attempts.get(evaluate) ?? new Map<object, Attempt>()
  let made = known.get(value)
  // A method may answer with one object at several places.
  const isHere = made?.place.holder === place.holder && made.place.key === place.key
  if (made === undefined || !isHere || made.isLenient !== isLenient || (evaluated && !made.keys)) {
    made = { found: [], memory, isLenient, place, keys: evaluated && new Set() }
    evaluate(value, place, made, made.keys)
    memory.attempts.set(evaluate, known.set(value, made))
  }
  if (made.fault && !fail(outcome, made.fault)) return false
  add(outcome, made, evaluated, made.keys)
  return true
}

function add(
  outcome: Outcome,
  { found }: Outcome,
  evaluated?: Set<string>,
  keys?: Set<string>,
): void {
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
