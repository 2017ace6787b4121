import { hasSize } from '../core/size.ts'
import { isObject, memberNames } from '../core/values.ts'
import type { Keyword } from './keyword.ts'

/** 2020-12 validation, sections 6.5.1 and 6.5.2. */
export const memberCounts: Keyword = (schema) => hasSize(schema, 'Properties', memberCountOf)

function memberCountOf(value: unknown): number | undefined {
  return isObject(value) ? memberNames(value).length : undefined
}
