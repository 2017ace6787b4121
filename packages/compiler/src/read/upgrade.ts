// Reads a document of OpenAPI 3.0 as one of 3.1. The file stays unchanged.
import { upgradeFromThreeToThreeOne } from '@scalar/openapi-upgrader/3.0-to-3.1'
import { isObject } from '@plant-store/json-schema'
import type { Diagnostics } from './diagnostics.ts'
import { member } from './references.ts'
import type { File } from './source-locations.ts'

export function isOpenApi30(root: unknown): boolean {
  return /^3\.0\.\d+$/.test(String(member(root, 'openapi')))
}

/**
 * Replaces the document of a file by its upgrade, with new objects.
 * @param diagnostics gets a warning
 */
export function upgrade(file: File, diagnostics: Diagnostics): void {
  if (!isObject(file.parsed)) return
  diagnostics.add({ file, pointer: '#/openapi' }, { code: 'version-upgraded' }, false)
  const upgraded: unknown = upgradeFromThreeToThreeOne(file.parsed)
  file.parsed = upgraded
}
