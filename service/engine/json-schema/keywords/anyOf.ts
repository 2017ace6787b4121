import { bestMatch } from '../evaluation.ts'
import type { Keyword } from './keyword.ts'

/** 2020-12 core, section 10.2.1.2. Each alternative that fits has annotations, so all are tried. */
export const anyOf: Keyword = ({ anyOf: schemas }, { inPlace }) => {
  if (schemas === undefined) return undefined
  const alternatives = schemas.map(inPlace)
  return (value, evaluation, evaluated) => {
    const branches = alternatives.map((evaluate) => evaluation.try(evaluate, value, evaluated))
    const valid = branches.filter(({ error }) => error === undefined)
    for (const branch of valid) evaluation.add(branch, evaluated)
    if (valid.length > 0) return true
    if (evaluation.isCollectAll)
      for (const evaluate of alternatives) evaluate(value, evaluation, evaluated)
    const error = bestMatch(branches)
    return error === undefined ? evaluation.fail(TEXT) : evaluation.adopt(error)
  }
}

const TEXT = 'must match a schema in anyOf'
