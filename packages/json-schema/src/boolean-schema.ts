import type { Evaluate } from './core/evaluation.ts'

const MAX_NAME_LENGTH = 100

/** The schemas `true` and `false` (2020-12 core, section 4.3.2). The error of a part is an error of its container. */
export function booleanSchema(isValid: boolean): Evaluate {
  if (isValid) return () => true
  return (_value, evaluation) => {
    const { key } = evaluation
    const noun = typeof key === 'number' ? 'item' : 'property'
    const name = String(key).slice(0, MAX_NAME_LENGTH)
    return evaluation.failContainer(`must not have the ${noun} ${name}`)
  }
}
