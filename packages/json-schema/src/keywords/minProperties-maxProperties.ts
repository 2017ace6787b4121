// The keywords `minProperties` and `maxProperties`.
import { hasSize } from '../core/size.ts'
import { isObject, namesOf } from '../core/values.ts'
import type { Keyword } from './keyword.ts'

/** 2020-12 validation, sections 6.5.1 and 6.5.2. */
export const propertyCounts: Keyword = (schema) => hasSize(schema, 'Properties', propertyCountOf)

function propertyCountOf(value: unknown): number | undefined {
  return isObject(value) ? namesOf(value).length : undefined
}
