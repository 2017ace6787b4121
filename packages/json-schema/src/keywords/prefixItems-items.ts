// The keywords `prefixItems` and `items`.
import { eachItem, NO_RULES } from '../core/children.ts'
import type { Keyword } from './keyword.ts'

/** 2020-12 core, sections 10.3.1.1 and 10.3.1.2. `items` is for the items behind `prefixItems`. */
export const items: Keyword = ({ prefixItems = [], items: schema }, { item }) => {
  if (prefixItems.length === 0 && schema === undefined) return undefined
  const first = prefixItems.map((prefixItem, index) => [item(prefixItem, index)])
  const others = schema === undefined ? NO_RULES : [item(schema)]
  return eachItem((index) => first[index] ?? others)
}
