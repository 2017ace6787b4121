// The door of the store: collections on SQLite and PostgreSQL, and the commands for what they keep.
import type { Product } from '../engine/index.ts'

export { openStore } from './open.ts'

// Each command loads only what it needs.
/** `npm run backup`: saves, restores and checks the embedded store. */
export const backup = async (product: Product) => (await import('./backup.ts')).backup(product)
/** `npm run copy`: copies everything to another store. */
export const copy = async (product: Product) => (await import('./copy.ts')).copy(product)
