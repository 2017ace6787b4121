// Makes the entity tag of an item.
import { hash } from 'node:crypto'
import { exactJson } from './json.ts'

/** Characters of six bits each: two items with the same tag are not found by chance. */
const ETAG_LENGTH = 22

/**
 * The strong entity tag of an item (RFC 9110, section 8.8.3): the same for the same item, whatever replica or store it comes from.
 * @param item as a collection returns it, with its properties in their stored order
 * @returns with its quotes, as `ETag`, `If-Match` and `If-None-Match` have it
 * @example
 * ```ts
 * import { etag } from '@plant-store/engine'
 *
 * export const tag = etag({ text: 'Buy milk' })
 * ```
 */
export function etag(item: unknown): string {
  const digest = hash('sha256', exactJson(item), 'base64url')
  return `"${digest.slice(0, ETAG_LENGTH)}"`
}
