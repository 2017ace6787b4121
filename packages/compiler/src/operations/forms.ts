// Compiles the schemas of forms, and checks their fields.
import type { BodyKind } from '@plant-store/engine/for-compiler'
import type * as openapi from '../read/document.ts'
import { namesTypesOfFiles } from './encodings.ts'
import type { Compilation } from '../schemas/schemas.ts'
import { allowedTypes, fieldsOf, isReadable } from '../schemas/shapes.ts'
import { isObject } from '@plant-store/json-schema'

type FormKind = Extract<BodyKind, 'multipart' | 'urlencoded'>

export function isForm(schema: unknown): boolean {
  const types = allowedTypes(schema).join()
  return types === 'object' || (types === 'any' && fieldsOf(schema).size > 0)
}

/** The schemas of undescribed forms: fields and files of any names, any number of times. */
const ANY_FORM = {
  urlencoded: {
    type: 'object',
    additionalProperties: { type: 'array', items: { type: 'string' } },
  },
  multipart: {
    type: 'object',
    additionalProperties: {
      type: 'array',
      items: { anyOf: [{ type: 'string', format: 'binary' }, { type: 'string' }] },
    },
  },
}

export function addForm(
  compilation: Compilation,
  kind: FormKind,
  media: openapi.MediaType,
): string {
  const isDescribed = isForm(media.schema)
  if (!isDescribed) compilation.diagnostics.warn(media, { code: 'form-undescribed' })
  const schema = isDescribed ? media.schema : ANY_FORM[kind]
  return compilation.schemas.add(schema, kind === 'multipart' ? 'form' : 'json')
}

/** Refuses fields which can be neither a string nor a file. */
export function checkFields(
  { diagnostics }: Compilation,
  kind: FormKind,
  media: openapi.MediaType,
): void {
  const { schema, encoding = {} } = media
  if (namesTypesOfFiles(schema, encoding))
    diagnostics.warn(media, { code: 'file-types' }, 'encoding')
  for (const [name, schemas] of fieldsOf(schema)) {
    if (isReadable({ anyOf: schemas }, kind)) continue
    diagnostics.error(schemas.find(isObject) ?? {}, { code: 'form-field-not-simple', name })
  }
}
