// Changes of several items of one owner: all or none.
import type { ItemAt } from './store.ts'
import type { Written } from './written.ts'

/** The most items of a change. */
const MAX_ITEMS = 100

const REMOVED: unique symbol = Symbol('removed')
/** Stands for an item that a change deletes. */
export interface Removed {
  readonly [REMOVED]: true
}

/**
 * Deletes an item, in the place of a new one.
 * @example
 * ```ts
 * import { type Collection, change, removed, write } from '@plant-store/engine'
 *
 * export const forget = (notes: Collection<string>, owner: string, id: bigint) =>
 *   change(owner, { note: notes.at(id) }, () => write({ note: removed }))
 * ```
 */
export const removed: Removed = { [REMOVED]: true }

/** Items by the names that a change gives them. */
export type ItemsAt = Readonly<Record<string, ItemAt<unknown>>>

/** The items that are stored, by their names. */
export type StoredItems<Items extends ItemsAt> = {
  readonly [Name in keyof Items]: Items[Name] extends ItemAt<infer Item> ? Item | undefined : never
}

/** New items, by the names of the items that they replace. */
export type NewItems<Items extends ItemsAt> = {
  readonly [Name in keyof Items]?: (Items[Name] extends ItemAt<infer Item> ? Item : never) | Removed
}

/** The answers of a change whose function returns these values. */
type AnswerOf<Returned> = Returned extends Written<infer _New, infer Answer> ? Answer : Returned

/** The written items that a change did not ask for, or whose types are others. */
type Faults<Items extends ItemsAt, Returned> =
  Returned extends Written<infer New, unknown>
    ? [New] extends [never]
      ? never
      : New extends NewItems<Items>
        ? Exclude<keyof New, keyof Items>
        : keyof New
    : never

/** Refuses a function that writes other items than the change has. */
type Check<Items extends ItemsAt, Returned> = [Faults<Items, Returned>] extends [never]
  ? unknown
  : { readonly 'these are no items of the change': Faults<Items, Returned> }

/**
 * Changes several items of one owner, all or none. No other change gets between: `decide` sees the items that are stored. It may
 * be called again if another process was faster, so it must do nothing else.
 * @param items 1 to 100 items of any collections of the product, each once
 * @param decide gets the items by their names, undefined for an item that is not there. It returns no promise
 * @returns what `decide` returned: then nothing is written. Or the answer of its `write`, when all is on disk
 * @throws {HttpError} 400 for a new item whose owner or key can't be stored: nothing is written
 * @throws {Error} for a new item that its schema refuses, or that JSON would change: nothing is written
 * @throws what `decide` throws: nothing is written
 * @example
 * ```ts
 * import { change, type Collection, write } from '@plant-store/engine'
 *
 * type Account = { readonly balance: bigint }
 * export const pay = (accounts: Collection<Account>, from: bigint, to: bigint, amount: bigint) =>
 *   change('/bank', { payer: accounts.at(from), payee: accounts.at(to) }, ({ payer, payee }) => {
 *     if (payer === undefined || payee === undefined) return 'no such account'
 *     if (payer.balance < amount) return 'not enough'
 *     const paid = { payer: { balance: payer.balance - amount }, payee: { balance: payee.balance + amount } }
 *     return write(paid, 'paid')
 *   })
 * ```
 */
export async function change<
  Items extends ItemsAt,
  Returned = never,
  New extends object = never,
  Answer = never,
>(
  owner: string,
  items: Items,
  decide: ((stored: StoredItems<Items>) => Returned | Written<New, Answer>) &
    Check<Items, Returned | Written<New, Answer>>,
): Promise<AnswerOf<Returned> | Answer> {
  const places = Object.values(items)
  const [first] = places
  if (first === undefined || places.length > MAX_ITEMS)
    throw new Error(`a change has 1 to ${MAX_ITEMS} items, not ${places.length}`)
  const answer = await first.changeTogether(
    owner,
    items,
    (stored) => decide(stored as StoredItems<Items>), // by the same names
  )
  return answer as AnswerOf<Returned> | Answer
}
