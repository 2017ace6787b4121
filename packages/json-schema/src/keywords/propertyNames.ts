import { isObject, memberNames } from '../core/values.ts'
import type { Keyword } from './keyword.ts'

/** 2020-12 core, section 10.3.2.4. An error of a name is an error of the object. */
export const propertyNames: Keyword = ({ propertyNames: schema }, { member }) => {
  if (schema === undefined) return undefined
  const evaluate = member(schema)
  return (value, evaluation) => {
    if (!isObject(value)) return true
    return memberNames(value).every((name) => evaluate(name, evaluation))
  }
}
