// The door of the engine: the only file that a product imports.
import type { Product } from './define-product.ts'
import { loadProgram } from '../compiler/development.ts'

export { defineProduct } from './define-product.ts'
export type { Product } from './define-product.ts'
export type { Identity, ProductGuard } from './contract/extensions.ts'
export type { CompiledContract, Mark } from './contract/compiled.ts'
export type { RequestOf, ResultOf, Sent } from './contract/types.ts'
export { refusal } from './contract/refusal.ts'
export type { JsonText } from './http/json.ts'
export type { Collection, Page } from '../store/store.ts'

// Each program loads only what it needs.

/** `npm start`: runs the service until a signal. */
export const start = async (product: Product) =>
  (await import('./programs/start.ts')).start(product)

/**
 * `npm run dev`: runs the service, which follows its contract and its code.
 * @param load imports the product. It is imported only in the process of the service: a fault in it does not end the watch
 */
export const dev = async (load: () => Promise<{ product: Product }>) =>
  (await loadProgram(() => import('../compiler/dev.ts'))).dev(load)

/** `npm run generate`: compiles the contract, and writes its types. */
export const generate = async (product: Product) =>
  (await loadProgram(() => import('../compiler/generate.ts'))).generate(product)

/** `npm run token`: issues, lists and revokes access tokens. */
export const token = async (product: Product) =>
  (await import('./programs/token.ts')).token(product)

/** `npm run backup`: saves, restores and checks the embedded store. */
export const backup = async (product: Product) =>
  (await import('../store/backup.ts')).backup(product)

/** `npm run copy`: copies everything to another store. */
export const copy = async (product: Product) => (await import('../store/copy.ts')).copy(product)
