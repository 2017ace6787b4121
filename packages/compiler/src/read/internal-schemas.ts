// Internal schemas: components with `x-internal: true`, which are stored and not published.
import type { Oas3_1Definition, OasRef } from '@redocly/openapi-core'
import { isRef, unescapePointer } from '@redocly/openapi-core'
import { isObject, reachable } from '@plant-store/json-schema'
import type { Diagnostics } from './diagnostics.ts'
import { tryDeref } from './references.ts'

/** Schemas, by their names. */
type Named = Readonly<Record<string, unknown>>

/**
 * Leaves out the internal schemas. Reports each reference of a published part to one of them: such a schema stays in the
 * document.
 * @returns the document to publish; undefined if nothing was left out
 */
export function publishedPart(
  root: Oas3_1Definition,
  diagnostics: Diagnostics,
): Oas3_1Definition | undefined {
  const schemas: Named = root.components?.schemas ?? {}
  const isInternal = (name: string) => isMarked(schemas[name])
  const published = Object.keys(schemas).filter((name) => !isInternal(name))
  const kept = new Set(published)
  for (const { node, name } of referencesIn(withSchemas(root, kept))) {
    if (!isInternal(name)) continue
    diagnostics.error(node, { code: 'schema-internal', name }, '$ref')
    kept.add(name)
  }
  // The loop also visits the names it adds.
  for (const name of kept)
    if (isInternal(name)) for (const { name: next } of referencesIn(schemas[name])) kept.add(next)
  const isWhole = Object.keys(schemas).every((name) => kept.has(name))
  return isWhole ? undefined : withSchemas(root, kept)
}

/** Whether a schema is internal, or only refers to one: a component of another file is such a reference in a bundle. */
function isMarked(schema: unknown): boolean {
  const isOnlyReference = isObject(schema) && Object.keys(schema).join() === '$ref'
  const target = isOnlyReference ? tryDeref<unknown>(schema) : schema
  return isObject(target) && target['x-internal'] === true
}

/** A copy of a document with some of its schemas. */
function withSchemas(root: Oas3_1Definition, names: ReadonlySet<string>): Oas3_1Definition {
  const { schemas = {}, ...others } = root.components ?? {}
  const kept = Object.entries(schemas).filter(([name]) => names.has(name))
  return { ...root, components: { ...others, schemas: Object.fromEntries(kept) } }
}

interface Reference {
  readonly node: OasRef
  /** The component that it refers to, or to a part of it. */
  readonly name: string
}

/** The references to schemas in a part of a document. */
function referencesIn(part: unknown): Reference[] {
  const references = reachable(part, () => undefined).filter((node) => isRef(node))
  return references.flatMap((node) => {
    const [, token] = /^#\/components\/schemas\/([^/]+)/.exec(node.$ref) ?? []
    return token === undefined ? [] : [{ node, name: unescapePointer(token) }]
  })
}
