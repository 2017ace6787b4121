// What the function of a change or an update returns to write and to answer: the new items, and the answer.

/** New items, and the answer when they are on disk. Made by {@link write}. For an update it is one item. */
export class Written<New, Answer> {
  readonly items: New
  readonly answer: Answer

  constructor(items: New, answer: Answer) {
    this.items = items
    this.answer = answer
  }
}

/** By the type of this result TypeScript keeps the literals in a result: the status 200, in place of a number. */
interface Literals {
  readonly status: 200
  readonly type: 'text/csv'
}

/**
 * Says what a change writes, and what it answers.
 * @param items of `change`: the new items by their names. An item that is not named stays as it is; `removed` deletes one.
 * Of `update`: the new item. Undefined: nothing is written
 * @param answer what `change` or `update` returns when all is on disk
 * @example
 * ```ts
 * import { change, type Collection, write } from '@plant-store/engine'
 *
 * export const rename = (notes: Collection<string>, owner: string, from: bigint, text: string) =>
 *   change(owner, { note: notes.at(from) }, () => write({ note: text }, 'renamed'))
 * ```
 */
export function write<New extends object>(items: New): Written<New, undefined>
export function write<New extends object, Answer>(
  items: New,
  answer: Answer | (Answer & Literals),
): Written<New, Answer>
export function write<New>(item: New): Written<New, undefined>
export function write<New, Answer>(
  item: New,
  answer: Answer | (Answer & Literals),
): Written<New, Answer>
export function write(items: unknown, answer?: unknown): Written<unknown, unknown> {
  return new Written(items, answer)
}
