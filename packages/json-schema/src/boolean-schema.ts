// The schemas `true` and `false`.
import type { Evaluate } from './core/evaluation.ts'

/** The schemas `true` and `false` (2020-12 core, section 4.3.2). A forbidden part is an error of its container. */
export function booleanSchema(isValid: boolean): Evaluate {
  if (isValid) return () => true
  return (_value, evaluation) =>
    evaluation.failContainer({ keyword: 'false', limit: evaluation.key })
}
