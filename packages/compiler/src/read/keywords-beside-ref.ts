// Protects keywords beside `$ref` from Redocly's bundler, which replaces a reference to a reference by the final target.
import { isRef } from '@redocly/openapi-core'
import { reachable } from '@plant-store/json-schema'
import { hasKeywords } from './keywords.ts'
import { member } from './references.ts'

/**
 * Moves the `$ref` of each schema with keywords beside it into its `allOf`. Otherwise the bundler would lose the keywords.
 * @param document is changed in place
 */
export function moveRefsIntoAllOf(document: unknown): void {
  for (const node of reachable(document, () => undefined).filter(isRef)) {
    if (!hasKeywords(node)) continue
    const allOf: unknown[] = [member(node, 'allOf') ?? []].flat()
    Reflect.set(node, 'allOf', [{ $ref: node.$ref }, ...allOf])
    Reflect.deleteProperty(node, '$ref')
  }
}
