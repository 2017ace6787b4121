// Validates values by the schemas of a contract, and changes them as the schemas say that have matched.
import { type Fault, type Formats, type Found, isObject, type Outcome, type Place } from './assertions.ts'
import type { Keywords, Schema } from './compiled.ts'
import { type Compile, compiler, levelOf } from './evaluation.ts'
import { isInt64, roundNumbers, toInt64 } from './numbers.ts'
import { parseJson } from '../http/json.ts'

/**
 * Validates a value, and changes it.
 * @param value with numbers as `parseJson` has them. In a request, those that are no int64 become a `number`
 * @returns the changed value, or what is wrong with it, in words that begin with its name
 */
export type Check = (value: unknown) => Checked
export interface Checked {
  readonly value?: unknown
  readonly fault?: string
}

/**
 * The schemas that change a value, or forbid it. In a request, an int64 becomes a `bigint`, an absent member gets its
 * default, and no member may be `readOnly`. In a response, `writeOnly` members are removed. In a stored item, an int64
 * becomes a `bigint`.
 */
const CHANGES = {
  request: ({ number, defaults, hidden }: Keywords) => isInt64(number) || defaults !== undefined || hidden === true,
  response: ({ hidden }: Keywords) => hidden === true,
  item: ({ number }: Keywords) => isInt64(number),
}

/** Validates by JSON Schema 2020-12, the dialect of OpenAPI 3.1. Values are never coerced. */
export class Validators {
  readonly #use: keyof typeof CHANGES
  readonly #compile: Compile

  /** @param schemas by id @param formats of the product */
  constructor(schemas: Readonly<Record<string, Schema>>, use: keyof typeof CHANGES, formats: Formats = {}) {
    this.#use = use
    this.#compile = compiler(schemas, CHANGES[use], formats)
  }

  /**
   * Makes the check of a schema.
   * @param name of the value in faults
   * @param marked the level from which on `readOnly` and `writeOnly` count: 1 for the members of the value
   */
  compile(name: string, schema: Schema, marked = 1): Check {
    const evaluate = this.#compile(schema)
    return (value) => {
      const root = { [name]: value }
      const place = { holder: root, key: name }
      const outcome: Outcome = { found: [] }
      if (!evaluate(value, place, outcome)) return describe(outcome.fault)
      const hidden = outcome.found.filter(({ schema, place }) => schema.hidden === true && levelOf(place) >= marked)
      if (this.#use === 'request') {
        if (hidden[0]) return { fault: `${pathOf(hidden[0].place)} is read-only: leave it out` }
        roundNumbers(root)
        this.#change(outcome.found)
        return { value: root[name] }
      }
      if (hidden.length === 0) return { value }
      const sent = without(
        value,
        Map.groupBy(hidden, ({ place }) => place.holder),
      )
      return evaluate(sent, place, outcome) ? { value: sent } : describe(outcome.fault)
    }
  }

  /** Whether a value is valid. */
  isValid(schema: Schema, value: unknown): boolean {
    return this.#compile(schema)(value, { holder: {}, key: '' }, { found: [] })
  }

  /** Changes a value as its schema says, whether it is valid or not. */
  change(schema: Schema, value: unknown): unknown {
    const root = { value }
    const outcome: Outcome = { found: [], isLenient: true }
    this.#compile(schema)(value, { holder: root, key: 'value' }, outcome)
    this.#change(outcome.found)
    return root.value
  }

  #change(found: readonly Found[]): void {
    for (const { schema, value, place } of found) {
      const exact = isInt64(schema.number) ? toInt64(value) : undefined
      if (exact !== undefined) Reflect.set(place.holder, place.key, exact)
      if (!isObject(value)) continue
      for (const [key, text] of Object.entries(schema.defaults ?? {})) {
        if (Object.hasOwn(value, key)) continue
        value[key] = this.change(schema.properties?.[key] ?? true, parseJson(Buffer.from(text)))
      }
    }
  }
}

/** The path of a part as a JSON pointer (RFC 6901) that begins with the name of the value. */
function pathOf({ key, outer }: Place): string {
  return outer === undefined
    ? String(key)
    : `${pathOf(outer)}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

function describe(fault: Fault | undefined): Checked {
  return { fault: fault ? `${pathOf(fault.place)} ${fault.text}` : 'is invalid' }
}

/** Copies a value without some parts of it. @param gone by the object or the list that they are in */
function without(value: unknown, gone: ReadonlyMap<object, readonly Found[]>): unknown {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return value
  const isGone = (key: string) => gone.get(value)?.some(({ place }) => String(place.key) === key) === true
  const kept = Object.entries<unknown>({ ...value }).filter(([key]) => !isGone(key))
  const copied = kept.map(([key, part]) => [key, without(part, gone)] as const)
  return Array.isArray(value) ? copied.map(([, part]) => part) : Object.fromEntries(copied)
}
