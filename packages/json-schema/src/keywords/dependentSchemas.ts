// The keyword `dependentSchemas`.
import type { Evaluate } from '../core/evaluation.ts'
import { everyOf } from '../core/every.ts'
import { hasProperty, isObject } from '../core/values.ts'
import type { Keyword } from './keyword.ts'

/** 2020-12 core, section 10.2.2.4. */
export const dependentSchemas: Keyword = ({ dependentSchemas: schemas }, { inPlace }) => {
  if (schemas === undefined) return undefined
  const rules = Object.entries(schemas).map(([name, schema]) => ifPresent(name, inPlace(schema)))
  return everyOf(rules)
}

/** Evaluates only an object with this property. */
export function ifPresent(name: string, evaluate: Evaluate): Evaluate {
  return (value, evaluation, evaluated) => {
    if (!isObject(value) || !hasProperty(value, name)) return true
    return evaluate(value, evaluation, evaluated)
  }
}
