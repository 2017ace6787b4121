// Reports and removes broken references: no URI, or circular. Redocly would throw an error without a line for them.
import { isRef, type Oas3_1Schema, type OasRef } from '@redocly/openapi-core'
import type { Diagnostics } from './diagnostics.ts'
import { decode, resolveIn } from './references.ts'
import type { File, Places, SourceLocation } from './source-locations.ts'

type Place = readonly [reference: OasRef, location: SourceLocation]

/** Removes the `$ref` of broken references of a file. @returns the other references */
export function removeBrokenReferences(
  file: File,
  places: Places,
  diagnostics: Diagnostics,
): readonly OasRef[] {
  removeInvalid(listReferences(places), diagnostics)
  const references = listReferences(places)
  for (const [reference] of references) avoidNull(file.parsed, reference)
  const circular = references.filter(([node]) => leadsTo(file.parsed, node, node))
  removeCircular(circular, diagnostics)
  return listReferences(places).map(([reference]) => reference)
}

function listReferences(places: Places): Place[] {
  return [...places].flatMap(([node, location]) => (isRef(node) ? [[node, location]] : []))
}

function removeInvalid(references: readonly Place[], diagnostics: Diagnostics): void {
  for (const [reference, { file, pointer }] of references) {
    if (decode(reference.$ref) !== undefined) continue
    const place = { file, pointer: `${pointer}/$ref` }
    diagnostics.add(place, { code: 'reference-not-uri' }, true)
    Reflect.deleteProperty(reference, '$ref')
  }
}

/** The linter can't follow a pointer through null. */
function avoidNull(root: unknown, reference: OasRef): void {
  if (resolveIn<unknown>(root, reference) === null) reference.$ref = '#/-'
}

function removeCircular(references: readonly Place[], diagnostics: Diagnostics): void {
  for (const [reference, location] of references) {
    const pointer = decode(reference.$ref) ?? '#'
    diagnostics.refer(location, { file: location.file, pointer })
    diagnostics.add(location, { code: 'reference-circular' }, true)
    Reflect.deleteProperty(reference, '$ref')
  }
}

/** Whether a node leads to another one, by references and by subschemas for the same value. */
function leadsTo(root: unknown, goal: unknown, from: unknown, seen = new Set<unknown>()): boolean {
  if (typeof from !== 'object' || from === null || seen.has(from)) return false
  seen.add(from)
  const schema = from as Oas3_1Schema
  const lists = [schema.allOf, schema.anyOf, schema.oneOf, schema.dependentSchemas]
  const schemas = lists.flatMap((list) => Object.values<unknown>(list ?? {}))
  const conditions = [schema.not, schema.if, schema.then, schema.else]
  const targets = [resolveIn(root, from), ...conditions, ...schemas]
  return targets.some((target) => target === goal || leadsTo(root, goal, target, seen))
}
