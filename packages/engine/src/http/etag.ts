// Makes the entity tag of an item, and compares it with those of a request.
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

/** The entity tags in a list (RFC 9110, section 8.8.3). A tag may have commas. */
const TAGS = /(W\/)?"([!#-~\x80-\xff]*)"/g

/**
 * Whether `If-Match` or `If-None-Match` names the tag of an item: by itself, in a list, or by `*`, which stands for any item.
 * @param header the value of the header
 * @param tag of the item, with its quotes; undefined if there is no item, which even `*` does not match
 * @param comparison `strong` for `If-Match`, which no weak tag matches (RFC 9110, section 13.1.1). `weak` for `If-None-Match`
 *   (section 13.1.2): a gateway that compresses an answer makes its tag weak, as in `W/"a"`
 * @example
 * ```ts
 * import { etag, matches } from '@plant-store/engine'
 *
 * const tag = etag({ text: 'Buy milk' })
 * export const isUnchanged = matches(`W/${tag}, "another"`, tag)
 * export const isThere = matches('*', tag, 'strong')
 * ```
 */
export function matches(
  header: string,
  tag: string | undefined,
  comparison: 'weak' | 'strong' = 'weak',
): boolean {
  if (tag === undefined) return false
  if (header.trim() === '*') return true
  const opaque = tag.replace(/^W\//, '')
  const isComparable = comparison === 'weak' || !tag.startsWith('W/')
  const listed = header
    .matchAll(TAGS)
    .filter(([, weak]) => comparison === 'weak' || weak === undefined)
  return isComparable && listed.some(([, , content]) => `"${content ?? ''}"` === opaque)
}
