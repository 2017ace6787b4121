import { openCollections, type Product, readConfig } from '@plant-store/engine'
import { openStore } from './open.ts'

/**
 * Opens an embedded store in memory, for a test of methods without a network. It is empty, and its own: no other call sees its
 * items. It is gone when nobody uses it any more.
 * @returns the collections of the product by name, as `services` gets them
 */
export async function testStore<Collections>(product: Product<Collections>): Promise<Collections> {
  const store = await openStore({
    database: { file: ':memory:' },
    collections: product.collections,
    isExclusive: true,
    settings: readConfig(product.name, {}),
  })
  return openCollections(product, store)
}
