// Reads stored items: JSON in which each int64 of the item's schema becomes a `bigint`.
import { Annotations, CHANGES } from './annotations.ts'
import type { Schema } from './compiled.ts'
import type { Contract } from './contract.ts'
import { Validators } from './validation.ts'
import { parseJson } from '../http/json.ts'

/**
 * Makes the reader of items.
 * @param schema the name of their schema in `components/schemas`
 */
export function itemReader(
  { items, product, schemas }: Pick<Contract, 'items' | 'product' | 'schemas'>,
  schema: string,
) {
  const id = items[schema]
  const whole: Schema = id === undefined || { $ref: id }
  let validators: Validators | undefined // made when alternatives need it
  const isValid = (part: Schema, value: unknown) =>
    (validators ??= new Validators(schemas, 'response', product.formats)).validator(part)(value)
  const annotations = new Annotations(schemas, CHANGES.item, isValid)
  return (text: string): unknown => {
    const holder = { item: parseJson(Buffer.from(text)) }
    annotations.change(annotations.find(whole, holder.item, { holder, key: 'item' }))
    annotations.forget()
    return holder.item
  }
}
