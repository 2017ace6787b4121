// The door of the store: collections on SQLite and PostgreSQL, and the commands for their data.
import type { Product } from '@plant-store/engine'

export { openStore } from './open.ts'

// A command imports only its modules, to start faster.
/**
 * `npm run backup`: saves, restores and checks the embedded store.
 * @example
 * ```ts
 * import { product } from './product.ts'
 * import { backup } from '@plant-store/store'
 *
 * await backup(product)
 * ```
 */
export const backup = async (product: Product) => (await import('./backup.ts')).backup(product)
/**
 * `npm run copy`: copies everything to another store.
 * @example
 * ```ts
 * import { product } from './product.ts'
 * import { copy } from '@plant-store/store'
 *
 * await copy(product)
 * ```
 */
export const copy = async (product: Product) => (await import('./copy.ts')).copy(product)
/**
 * The collections of a product in a store in memory: for a test of a method without a network, in
 * milliseconds.
 * @example
 * ```ts
 * import { product } from './product.ts'
 * import { testStore } from '@plant-store/store'
 *
 * const { notes } = await testStore(product)
 * await notes.create('ann', 7n, { text: 'Water the moss' })
 * export const note = await notes.find('ann', 7n)
 * ```
 */
export const testStore = async <Collections>(product: Product<Collections>) =>
  (await import('./test-store.ts')).testStore(product)
