// The keyword `propertyNames`.
import { isObject, namesOf } from '../core/values.ts'
import type { Keyword } from './keyword.ts'

/** 2020-12 core, section 10.3.2.4. An error of a name is an error of the object. */
export const propertyNames: Keyword = ({ propertyNames: schema }, { property }) => {
  if (schema === undefined) return undefined
  const evaluate = property(schema)
  return (value, evaluation) => {
    if (!isObject(value)) return true
    return namesOf(value).every((name) => evaluate(name, evaluation))
  }
}
