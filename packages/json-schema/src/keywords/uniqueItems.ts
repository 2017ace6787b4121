// The keyword `uniqueItems`.
import type { Evaluation } from '../core/evaluation.ts'
import { identityOf } from '../core/identity.ts'
import type { Keyword } from './keyword.ts'

/** 2020-12 validation, section 6.4.3. */
export const uniqueItems: Keyword = ({ uniqueItems: isAsked }) => {
  if (isAsked !== true) return undefined
  return (value, evaluation) => {
    if (!Array.isArray(value) || areUnique(value, evaluation)) return true
    return evaluation.fail({ keyword: 'uniqueItems', limit: true })
  }
}

function areUnique(items: readonly unknown[], evaluation: Evaluation): boolean {
  const identities = new Set(items.map((item) => identityOf(item, evaluation)))
  return identities.size === items.length
}
