import type { Keyword } from './keyword.ts'

/** 2020-12 core, section 10.2.1.4. */
export const not: Keyword = ({ not: schema, description }, { condition }) => {
  if (schema === undefined) return undefined
  const evaluate = condition(schema)
  const text = description ? `is invalid: ${description}` : 'must NOT be valid'
  return (value, evaluation) => !evaluation.fits(evaluate, value) || evaluation.fail(text)
}
