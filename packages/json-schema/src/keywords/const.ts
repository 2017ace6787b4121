// The keyword `const`.
import { isOneOf } from '../core/allowed-values.ts'
import type { Keyword } from './keyword.ts'

/** 2020-12 validation, section 6.1.3. The value may be null. */
export const constant: Keyword = (schema) =>
  'const' in schema ? isOneOf([schema.const], { keyword: 'const', limit: schema.const }) : undefined
