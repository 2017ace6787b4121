// The keywords `minItems` and `maxItems`.
import { hasSize } from '../core/size.ts'
import type { Keyword } from './keyword.ts'

/** 2020-12 validation, sections 6.4.1 and 6.4.2. */
export const itemCounts: Keyword = (schema) => hasSize(schema, 'Items', itemCountOf)

function itemCountOf(value: unknown): number | undefined {
  return Array.isArray(value) ? value.length : undefined
}
