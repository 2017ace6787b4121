// The unique indexes of a table: the refusals of its writes, and the values that a write frees.
import { exactJson, NotUnique, parseJson, type StoredIndex } from '@plant-store/engine/for-store'
import { valueAt } from '../core/indexed-items.ts'
import type { TableInfo } from './create-tables.ts'
import { constraintOf } from './retries.ts'

export class Uniqueness {
  readonly #table: string
  /** By their names in the database. */
  readonly #indexes: ReadonlyMap<string, StoredIndex>

  constructor({ name, indexes }: TableInfo) {
    const unique = indexes.filter(({ index }) => index.isUnique)
    this.#table = name
    this.#indexes = new Map(unique.map(({ name, index }) => [name, index]))
  }

  /** The error for the caller of a write that the server has refused. */
  toNotUnique(error: unknown): unknown {
    const constraint = constraintOf(error)
    if (constraint === undefined) return error
    for (const [name, index] of this.#indexes) {
      // A node of Citus adds the number of its shard.
      const isBroken = constraint === name || constraint.startsWith(`${name}_`)
      if (isBroken) return new NotUnique(this.#table, index.name)
    }
    return error
  }

  /**
   * Whether a write frees a value that another item may have then.
   * @param before the stored item; undefined if there is none
   * @param after the new item; undefined to delete it
   */
  frees(before: string | undefined, after: string | undefined): boolean {
    return this.#isAnyIndex(before, after, (old, fresh) => old !== undefined && old !== fresh)
  }

  /** Whether an update gives an item other values: another item of its change may free them. */
  moves(before: string, after: string): boolean {
    return this.#isAnyIndex(before, after, (old, fresh) => old !== fresh)
  }

  /** Whether the values of the items in an index are as the test wants. */
  #isAnyIndex(
    before: string | undefined,
    after: string | undefined,
    test: (old: string | undefined, fresh: string | undefined) => boolean,
  ): boolean {
    if (this.#indexes.size === 0 || before === undefined || before === after) return false
    const [old, fresh] = [before, after].map(parse)
    return this.#indexes
      .values()
      .some((index) => test(valuesOf(index, old), valuesOf(index, fresh)))
  }
}

function parse(text: string | undefined): unknown {
  return text === undefined ? undefined : parseJson(Buffer.from(text))
}

/** A string that tells the values of an item apart; undefined if the item is not in the index. */
function valuesOf({ properties }: StoredIndex, item: unknown): string | undefined {
  const values = properties.map(({ path }) => valueAt(item, path) ?? undefined)
  return values.includes(undefined) ? undefined : exactJson(values)
}
