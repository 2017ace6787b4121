// Reads stored items: JSON in which each int64 of the item's schema becomes a `bigint`.
import type { Contract } from './contract.ts'
import { Validators } from './validation.ts'
import { parseJson } from '../http/json.ts'

/**
 * Makes the reader of items. An item may be older than its schema, and need not fit it.
 * @param schema the name of their schema in `components/schemas`
 */
export function itemReader(
  { items, product, schemas }: Pick<Contract, 'items' | 'product' | 'schemas'>,
  schema: string,
): (text: string) => unknown {
  const id = items[schema]
  if (id === undefined) return (text) => parseJson(Buffer.from(text))
  const whole = { $ref: id }
  const validators = new Validators(schemas, 'item', product.formats)
  return (text) => validators.toExact(whole, parseJson(Buffer.from(text)))
}
