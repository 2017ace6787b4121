// The keyword `allOf`.
import { everyOf } from '../core/every.ts'
import type { Keyword } from './keyword.ts'

/** 2020-12 core, section 10.2.1.1. */
export const allOf: Keyword = ({ allOf: schemas }, { inPlace }) =>
  schemas === undefined ? undefined : everyOf(schemas.map(inPlace))
