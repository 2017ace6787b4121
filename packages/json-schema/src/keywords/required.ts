// The keyword `required`.
import { hasProperty, isObject } from '../core/values.ts'
import type { Keyword } from './keyword.ts'

/** 2020-12 validation, section 6.5.3. */
export const required: Keyword = ({ required: names = [] }, { isRequired }) => {
  const needed = names.filter(isRequired)
  if (needed.length === 0) return undefined
  return (value, evaluation) => {
    if (!isObject(value)) return true
    for (const name of needed) {
      if (hasProperty(value, name)) continue
      if (!evaluation.fail({ keyword: 'required', limit: name })) return false
    }
    return true
  }
}
