// A store in memory, for tests of methods.
import { openCollections, type Product, readConfig } from '@plant-store/engine'
import { openStore } from './open.ts'

/**
 * Opens an empty embedded store in memory, which no other call shares. It is gone with its last
 * user.
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
