// Opens the collections of a product.
import type { Contract } from './contract.ts'
import { itemReader, itemWriter } from './items.ts'
import type { Store } from '../store.ts'

/**
 * Opens the collections by name. Their items are checked by the schemas of the contract.
 * @throws {Error} if the contract lacks the schema of one, unless it is a draft
 */
export function openCollections(
  store: Pick<Store, 'collection'>,
  contract: Pick<Contract, 'items' | 'product' | 'schemas'>,
  isDraft = false,
): Readonly<Record<string, unknown>> {
  const defined = Object.entries(contract.product.collections ?? {})
  const collections = defined.map(([name, { schema }]) => {
    if (!Object.hasOwn(contract.items, schema) && !isDraft)
      throw new Error(`the collection ${name} needs the schema ${schema} in components/schemas`)
    const [parse, write] = [itemReader(contract, schema), itemWriter(contract, schema)]
    return [name, store.collection(name, { parse, write })] as const
  })
  return Object.fromEntries(collections)
}
