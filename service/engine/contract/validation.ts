// Validates values by the schemas of a contract, and changes them as the matching schemas say.
import { isHolder, isObject } from '../json-schema/assertions.ts'
import type { Formats, Keywords, Schema } from '../json-schema/schema.ts'
import {
  type Compile,
  compiler,
  type JointSchemasOf,
  type Mark,
} from '../json-schema/evaluation.ts'
import { reachable } from '../json-schema/joint-schemas.ts'
import { isInt64, roundNumbers, toInt64 } from '../json-schema/numbers.ts'
import {
  type Fault,
  type Found,
  levelOf,
  type Match,
  type Outcome,
  type Place,
} from '../json-schema/outcome.ts'

/**
 * Validates a value, and changes it.
 * @param value with numbers as `parseJson` has them. In a request, those that are no int64 become a `number`
 * @returns the changed value, or what is wrong with it, in words that begin with its name
 */
export type Check = (value: unknown) => Checked
interface Checked {
  readonly value?: unknown
  readonly fault?: string
}

/**
 * What a value is validated for, and the marks of members that it need not have. In a request, an int64 becomes a `bigint`, an
 * absent member gets its default, and no member may be `readOnly`. In a response, `writeOnly` members are removed. In a
 * stored item, an int64 becomes a `bigint`. In a new one, nothing is changed.
 */
const MARKS = {
  request: ['readOnly'],
  response: ['writeOnly'],
  item: [],
  newItem: ['readOnly', 'writeOnly'],
} as const satisfies Record<string, readonly Mark[]>

/** What a schema changes in a value, or forbids. */
interface Change {
  readonly isInt64: boolean
  readonly isHidden: boolean
  readonly defaults: readonly (readonly [name: string, value: unknown, schema: Schema])[]
}

/** The most members that are filled in for one that is absent: it, and those in its default. */
const MAX_FILLED_IN = 100
/** The fault of a default that would fill in more. The compiler removes it. */
export const FILLS_IN_TOO_MUCH = `would fill in more than ${MAX_FILLED_IN} members`
/** The most defaults of a value. Else a few bytes of a list could become many objects. */
const MAX_DEFAULTS = 100_000
const TOO_MANY = `must NOT lack more than ${MAX_DEFAULTS} members that have a default`

/** Validates by JSON Schema 2020-12, the dialect of OpenAPI 3.1. Values are never coerced. */
export class Validators {
  readonly #use: keyof typeof MARKS
  readonly #compile: Compile
  /** Whether a schema may have members that are not in a response. */
  readonly hides: (schema: Schema) => boolean

  /** @param schemas by id @param formats of the product */
  constructor(
    schemas: Readonly<Record<string, Schema>>,
    use: keyof typeof MARKS,
    formats: Formats = {},
  ) {
    this.#use = use
    this.#compile = compiler(schemas, (...all) => changeOf(use, ...all), MARKS[use], formats)
    const nodes = (schema: Schema) => reachable(schema, ({ $ref = '' }) => schemas[$ref])
    this.hides = (schema) =>
      nodes(schema).some((each) => isObject(each) && each['writeOnly'] === true)
  }

  /**
   * Makes the check of a schema.
   * @param name of the value in faults
   * @param marked the least level of the members for which `readOnly` and `writeOnly` count; those of the value have level 1
   */
  compile(name: string, schema: Schema, marked = 1): Check {
    const evaluate = this.#compile(schema)
    const check = (value: unknown, isCopy = false): Checked => {
      const root: Record<string, unknown> = {}
      root[name] = value
      const place = { holder: root, key: name }
      const outcome: Outcome<Change> = { found: [], isLenient: false }
      if (!evaluate(value, place, outcome)) return describe(outcome.fault)
      const found = matchesIn(outcome.found)
      const hidden = found.filter(
        ({ change, place }) => change.isHidden && levelOf(place) >= marked,
      )
      if (this.#use === 'request') {
        if (hidden[0]) return { fault: `${pathOf(hidden[0].place)} is read-only: leave it out` }
        if (!this.#fillIn(found)) return { fault: `${name} ${TOO_MANY}` }
        roundNumbers(root)
        makeExact(found)
        return { value: root[name] }
      }
      if (hidden.length === 0) return { value }
      const sent = without(
        value,
        isCopy ? Map.groupBy(hidden, ({ place }) => place.holder) : new Map(),
      )
      // A method may answer with one object at several places. In a copy, each place has an object of its own.
      if (!isCopy) return check(sent, true)
      return evaluate(sent, place, outcome) ? { value: sent } : describe(outcome.fault)
    }
    return (value) => check(value)
  }

  /** Whether a value is valid. */
  isValid(schema: Schema, value: unknown): boolean {
    return this.#compile(schema)(value, { holder: {}, key: '' }, { found: [], isLenient: false })
  }

  /** Makes a `bigint` of each int64 of a value, whether it is valid or not. */
  toExact(schema: Schema, value: unknown): unknown {
    const root = { value }
    const outcome: Outcome<Change> = { found: [], isLenient: true }
    this.#compile(schema)(value, { holder: root, key: 'value' }, outcome)
    makeExact(matchesIn(outcome.found))
    return root.value
  }

  /**
   * Fills in the defaults of absent members, and those in these defaults, and adds what is found in them.
   * @returns whether they were not too many
   * @throws {Error} if one default fills in too much
   */
  #fillIn(found: Match<Change>[]): boolean {
    let total = 0
    // By the index of a match that a default has added: how many members that default fills in.
    const counts: { filledIn: number }[] = []
    for (const [index, { change, value: holder, place }] of found.entries()) {
      for (const [key, value, schema] of change.defaults) {
        if (!isObject(holder) || Object.hasOwn(holder, key)) continue
        const count = counts[index] ?? { filledIn: 0 }
        count.filledIn += 1
        if (count.filledIn > MAX_FILLED_IN) throw new Error(FILLS_IN_TOO_MUCH)
        total += 1
        if (total > MAX_DEFAULTS) return false
        const outcome: Outcome<Change> = { found: [], isLenient: true }
        holder[key] = copy(value)
        this.#compile(schema)(holder[key], { holder, key, outer: place }, outcome)
        for (const match of matchesIn(outcome.found)) {
          counts[found.length] = count
          found.push(match) // and this loop goes on with it
        }
      }
    }
    return true
  }
}

function changeOf(
  use: keyof typeof MARKS,
  schema: Keywords,
  jointSchemasOf: JointSchemasOf,
): Change | undefined {
  if (use === 'newItem') return undefined
  const isHidden = MARKS[use].some((mark) => schema[mark] === true)
  const members = use === 'request' ? Object.entries(schema.properties ?? {}) : []
  const defaults = members.flatMap(([name, member]) => {
    const schemas = jointSchemasOf(member)
    const found = schemas.find((each) => each.default !== undefined)
    const isFilled = found !== undefined && !schemas.some(({ readOnly }) => readOnly === true)
    return isFilled ? [[name, found.default, member] as const] : []
  })
  const change = { isInt64: use !== 'response' && isInt64(schema), isHidden, defaults }
  return change.isInt64 || isHidden || defaults.length > 0 ? change : undefined
}

/** All that was found, in its order, and nothing twice. */
function matchesIn<Change>(
  found: Found<Change>,
  all: Match<Change>[] = [],
  seen = new Set<Found<Change>>(),
): Match<Change>[] {
  for (const each of found) {
    if (!Array.isArray(each)) all.push(each)
    else if (!seen.has(each)) matchesIn(each, all, seen.add(each))
  }
  return all
}

/** Makes a `bigint` of each int64. */
function makeExact(found: readonly Match<Change>[]): void {
  for (const { change, value, place } of found) {
    const exact = change.isInt64 ? toInt64(value) : undefined
    if (exact !== undefined) (place.holder as Record<Place['key'], unknown>)[place.key] = exact
  }
}

/** The path of a part as a JSON pointer (RFC 6901) that begins with the name of the value. A long one is cut. */
function pathOf({ key, outer }: Place): string {
  const name = String(key).slice(0, 500).replaceAll('~', '~0').replaceAll('/', '~1')
  return outer === undefined ? name : `${pathOf(outer)}/${name}`.slice(0, 500)
}

const describe = (fault?: Fault) => ({
  fault: fault ? `${pathOf(fault.place)} ${fault.text}` : 'is invalid',
})

/** Copies a default. `structuredClone` would take ten times as long. */
function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, copy(part)]))
}

/** Copies a value without some parts of it. @param gone by the object or the list that they are in */
function without(
  value: unknown,
  gone: ReadonlyMap<object, readonly { readonly place: Place }[]>,
): unknown {
  if (!isHolder(value) || Reflect.get(value, 'toJSON') instanceof Function) return value
  const names = new Set(gone.get(value)?.map(({ place }) => String(place.key)))
  const kept = Object.entries<unknown>({ ...value }).filter(([key]) => !names.has(key))
  const copied = kept.map(([key, part]) => [key, without(part, gone)] as const)
  return Array.isArray(value) ? copied.map(([, part]) => part) : Object.fromEntries(copied)
}
