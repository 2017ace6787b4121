// The choices in making a value: at random, for tests; or those of a plain example, for people.
import fc, { type GeneratorValue } from 'fast-check'
import { isObject } from '@plant-store/json-schema'
import { memberSchemas } from './property-schemas.ts'
import { plainScalar } from './plain-scalars.ts'
import { scalar } from './scalars.ts'
import type { Schema, SchemaReader, Wanted } from './schema.ts'

/** The most optional properties: at random, and in a series. */
const MOST = { properties: 30, series: 12 }
/** A plain example has optional properties down to this level. */
const PLAIN_LEVELS = 5

export interface Choices {
  /** The choices of a try, counted from 0. */
  readonly atTry: (count: number) => Choices
  /** The choices of an item of a list without duplicates. */
  readonly atItem: (index: number) => Choices
  /** The choices for the properties and items of a value. @param parts its schemas */
  readonly within: (parts: readonly Schema[]) => Choices
  readonly pick: <Item>(list: readonly Item[]) => Item | undefined
  /** One of `oneOf` or `anyOf`. */
  readonly alternative: (options: readonly unknown[]) => unknown
  /** Whether an example or a default is taken, if there is one. */
  readonly isListed: () => boolean
  /** Whether a condition is made to apply. */
  readonly applies: () => boolean
  /** Whether a list has as many items as it may have. */
  readonly isFull: () => boolean
  /** A number of items. @param items their schemas */
  readonly length: (least: number, most: number, items: readonly unknown[]) => number
  /** A number of undescribed properties. */
  readonly more: () => number
  readonly optional: (names: readonly string[], parts: readonly Schema[]) => readonly string[]
  readonly scalar: (wanted: Wanted) => unknown
  readonly string: (strings: fc.Arbitrary<string>) => string
}

/** The uses of each schema in one series of values: the least used one comes first. */
export type Uses = Map<unknown, number>

/** Chooses at random; in a series, the least used schemas first. */
export class RandomChoices implements Choices {
  readonly #reader: SchemaReader
  readonly #choose: GeneratorValue
  readonly #uses: Uses | undefined

  constructor(reader: SchemaReader, choose: GeneratorValue, uses?: Uses) {
    this.#reader = reader
    this.#choose = choose
    this.#uses = uses
  }

  atTry(): Choices {
    return this
  }

  atItem(): Choices {
    return this
  }

  within(): Choices {
    return this
  }

  pick<Item>(list: readonly Item[]): Item | undefined {
    return list[this.#choose(fc.nat, list.length - 1)]
  }

  alternative(options: readonly unknown[]): unknown {
    const chosen = this.pick(options)
    if (this.#uses === undefined) return chosen
    const least = Math.min(...options.map((option) => this.#usesOf(option)))
    if (this.#usesOf(chosen) === least) return chosen
    return options.find((option) => this.#usesOf(option) === least)
  }

  isListed(): boolean {
    return this.#choose(fc.nat, 3) === 0
  }

  applies(): boolean {
    return this.#choose(fc.boolean)
  }

  isFull(): boolean {
    return this.#choose(fc.nat, 9) === 0
  }

  length(least: number, most: number): number {
    return this.#choose(fc.nat, Math.max(0, most - least)) + least
  }

  more(): number {
    return this.#choose(fc.nat, 2)
  }

  /** Some optional properties: none, a few, or more. In a series the least used ones. */
  optional(names: readonly string[], parts: readonly Schema[]): readonly string[] {
    if (names.length === 0) return []
    if (this.#uses !== undefined) {
      const used = new Map(names.map((name) => [name, this.#usesOf(memberSchemas(parts, name)[0])]))
      const inOrder = names.toSorted((a, b) => (used.get(a) ?? 0) - (used.get(b) ?? 0))
      return inOrder.slice(0, this.#choose(fc.nat, Math.min(names.length, MOST.series)))
    }
    const [share, first] = [this.#choose(fc.nat, 4), this.#choose(fc.nat, names.length - 1)]
    const turned = [...names.slice(first), ...names.slice(0, first)]
    return turned.filter(() => this.#choose(fc.nat, 3) < share).slice(0, MOST.properties)
  }

  scalar({ type, valuesOf }: Wanted): unknown {
    return this.#choose(scalar(type, valuesOf))
  }

  string(strings: fc.Arbitrary<string>): string {
    return this.#choose(() => strings)
  }

  #usesOf(schema: unknown): number {
    const used = isObject(schema) ? (this.#reader.referred(schema) ?? schema) : schema
    return this.#uses?.get(used) ?? 0
  }
}

/** What a plain example has chosen already. */
interface Plain {
  readonly reader: SchemaReader
  /** Chooses where the plain choices fail. */
  readonly random: Choices
  readonly level: number
  /** The schemas around: a value has no optional part that leads back to one of them. */
  readonly around: ReadonlySet<unknown>
  readonly hasListed: boolean
  readonly hasOptional: boolean
  /** Which of the usual values is taken: each item of a list without duplicates has another one. */
  readonly turn: number
}

/** Chooses a plain example: the first of each list, all optional properties, and usual strings and numbers. */
export class PlainChoices implements Choices {
  readonly #plain: Plain

  constructor(plain: Plain) {
    this.#plain = plain
  }

  /** First with examples and all optional properties, then without them, then at random. */
  atTry(count: number): Choices {
    if (count === 0) return this
    if (count > 2) return this.#plain.random
    const hasOptional = this.#plain.hasOptional && count === 1
    return new PlainChoices({ ...this.#plain, hasListed: false, hasOptional })
  }

  atItem(index: number): Choices {
    return new PlainChoices({ ...this.#plain, turn: index })
  }

  within(parts: readonly Schema[]): Choices {
    const { level, around } = this.#plain
    return new PlainChoices({
      ...this.#plain,
      level: level + 1,
      hasListed: true,
      around: new Set([...around, ...parts]),
    })
  }

  pick<Item>(list: readonly Item[]): Item | undefined {
    return list[this.#plain.turn % list.length]
  }

  alternative(options: readonly unknown[]): unknown {
    return options.find((option) => !this.#leadsBack(option)) ?? options[0]
  }

  isListed(): boolean {
    return this.#plain.hasListed
  }

  applies(): boolean {
    return false
  }

  isFull(): boolean {
    return false
  }

  /** One item, if there may be one, or as many as there must be. */
  length(least: number, most: number, items: readonly unknown[]): number {
    if (items.length === 0 || items.some((item) => this.#leadsBack(item))) return least
    return Math.max(least, Math.min(1, most))
  }

  more(): number {
    return 0
  }

  optional(names: readonly string[], parts: readonly Schema[]): readonly string[] {
    const { level, hasOptional } = this.#plain
    if (!hasOptional || level > PLAIN_LEVELS) return []
    const inOrder = names.filter(
      (name) => !memberSchemas(parts, name).some((schema) => this.#leadsBack(schema)),
    )
    return inOrder.slice(0, MOST.properties)
  }

  scalar(wanted: Wanted): unknown {
    return plainScalar(wanted, this.#plain.turn)
  }

  string(strings: fc.Arbitrary<string>): string {
    return this.#plain.random.string(strings)
  }

  /** Whether a schema, or the schema of its items, is one of those around. */
  #leadsBack(schema: unknown): boolean {
    if (!isObject(schema)) return false
    const target = this.#plain.reader.referred(schema) ?? schema
    return this.#plain.around.has(target) || this.#leadsBack(target['items'])
  }
}
