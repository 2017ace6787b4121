// What the function of a change returns to write items: the new items, and the answer.

/** New items, and the answer when they are on disk. Made by {@link write}. */
export class Written<New, Answer> {
  readonly items: New
  readonly answer: Answer

  constructor(items: New, answer: Answer) {
    this.items = items
    this.answer = answer
  }
}

/**
 * Says what a change writes. An item that is not named stays as it is; `removed` deletes one.
 * @param answer what `change` returns when all is on disk
 * @example
 * ```ts
 * import { change, type Collection, write } from '@plant-store/engine'
 *
 * export const rename = (notes: Collection<string>, owner: string, from: bigint, text: string) =>
 *   change(owner, { note: notes.at(from) }, () => write({ note: text }, 'renamed'))
 * ```
 */
export function write<New extends object>(items: New): Written<New, undefined>
export function write<New extends object, Answer>(items: New, answer: Answer): Written<New, Answer>
export function write(items: object, answer?: unknown): Written<object, unknown> {
  return new Written(items, answer)
}
