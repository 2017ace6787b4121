import { toRegExp } from '../core/patterns.ts'
import type { Keyword } from './keyword.ts'

/** 2020-12 validation, section 6.3.3. */
export const pattern: Keyword = ({ pattern: source, description }) => {
  if (source === undefined) return undefined
  const expression = toRegExp(source)
  // A description helps a person more than the pattern.
  const text =
    description === undefined ? `must match pattern "${source}"` : `is invalid: ${description}`
  return (value, evaluation) =>
    typeof value !== 'string' || expression.test(value) || evaluation.fail(text)
}
