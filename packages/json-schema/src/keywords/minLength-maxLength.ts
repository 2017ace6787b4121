// The keywords `minLength` and `maxLength`.
import type { AddedType, AddedTypes, Keywords } from '../core/schema.ts'
import { hasSize } from '../core/size.ts'
import type { Keyword } from './keyword.ts'

/** 2020-12 validation, sections 6.3.1 and 6.3.2. A value of an added type has a length, too, in another unit. */
export const lengths: Keyword = (schema, { types }) => {
  const added = Object.values(types)
  return hasSize(schema, 'Length', (value) => lengthOf(value, added), unitOf(schema, types))
}

function unitOf({ type }: Keywords, types: AddedTypes): string | undefined {
  const isAdded = typeof type === 'string' && Object.hasOwn(types, type)
  return isAdded ? types[type]?.unit : undefined
}

/** Characters are code points (RFC 8259, section 1), not units of UTF-16. */
function lengthOf(value: unknown, added: readonly AddedType[]): number | undefined {
  if (typeof value === 'string')
    return hasSurrogates(value) ? Array.from(value).length : value.length
  const lengths = added.map((type) => type.lengthOf(value))
  return lengths.find((length) => length !== undefined)
}

const hasSurrogates = (string: string) => /[\ud800-\udbff]/.test(string)
