import { hasSize } from '../core/size.ts'
import type { Keyword } from './keyword.ts'

/** 2020-12 validation, sections 6.3.1 and 6.3.2. The length of a file of a form is in bytes. */
export const lengths: Keyword = (schema) => hasSize(schema, 'Length', lengthOf)

/** Characters are code points (RFC 8259, section 1), not units of UTF-16. */
function lengthOf(value: unknown): number | undefined {
  if (typeof value === 'string')
    return hasSurrogates(value) ? Array.from(value).length : value.length
  return value instanceof Blob ? value.size : undefined
}

const hasSurrogates = (text: string) => /[\ud800-\udbff]/.test(text)
