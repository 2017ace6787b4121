// The keyword `enum`.
import { isOneOf } from '../core/allowed-values.ts'
import type { Keyword } from './keyword.ts'

/** 2020-12 validation, section 6.1.2. */
export const enumeration: Keyword = ({ enum: values }) =>
  values === undefined ? undefined : isOneOf(values, { keyword: 'enum', limit: values })
