// The keyword `dependentRequired`.
import { everyOf } from '../core/every.ts'
import { ifPresent } from './dependentSchemas.ts'
import type { Keyword } from './keyword.ts'

/** 2020-12 validation, section 6.5.4: the same as `required` in `dependentSchemas`. */
export const dependentRequired: Keyword = ({ dependentRequired: lists }, { inPlace }) => {
  if (lists === undefined) return undefined
  const rules = Object.entries(lists).map(([name, required]) => {
    const evaluate = inPlace({ required })
    return ifPresent(name, evaluate)
  })
  return everyOf(rules)
}
