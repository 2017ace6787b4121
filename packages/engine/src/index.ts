// The door of the engine: all imports of a product. Other packages use a few more doors: for-….ts.
import type { LoadCompiler } from './contract/contract.ts'
import type { Product } from './define-product.ts'
import type { ContractSources } from './programs/start.ts'
import type { Store } from './store.ts'

// For product.ts and the classes with the methods:
export { defineProduct } from './define-product.ts'
export type { OpenContext, Product } from './define-product.ts'
export type { Identity, ProductGuard } from './contract/product-hooks.ts'
export type { CompiledContract, Mark } from './contract/compiled.ts'
export type { RequestOf, ResultOf, Visible } from './operation/types.ts'
export { notWritten } from './operation/output/not-written.ts'
export { refusal } from './operation/output/refusal.ts'
export { problem } from './operation/output/problem.ts'
export { etag, matches } from './http/etag.ts'
export type { JsonText } from './http/json.ts'
export type { Collection, Page } from './store.ts'
export { change, removed } from './change.ts'
export { write } from './written.ts'
export { NotUnique } from './errors.ts'

// For the commands of the other packages:
/**
 * The collections of a product in an open store, with their types. Their items are checked by the
 * schemas of the contract.
 * @example
 * ```ts
 * import { openCollections, readConfig } from '@plant-store/engine'
 * import { product } from './product.ts'
 * import { openStore } from '@plant-store/store'
 *
 * const settings = readConfig('notes')
 * const { collections } = product
 * const store = await openStore({ database: { file: 'a.db' }, collections, isExclusive: true, settings })
 * export const { notes } = await openCollections(product, store)
 * ```
 */
export const openCollections = async <Collections>(
  product: Product<Collections>,
  store: Pick<Store, 'collection'>,
): Promise<Collections> => {
  const contract = { ...product.contract, product }
  const load = await import('./contract/collections.ts')
  return load.openCollections(store, contract) as Collections // typed by `product`
}
export { type Config, readConfig } from './config.ts'

// A program imports only its modules, to start faster.
/**
 * `npm start`: runs the service until a signal.
 * @param loadCompiler imports the compiler, for a contract changed since it was generated
 * @example
 * ```ts
 * import { loadCompiler } from '@plant-store/compiler'
 * import { start } from '@plant-store/engine'
 * import { product } from './product.ts'
 *
 * await start(product, loadCompiler)
 * ```
 */
export const start = async (product: Product, loadCompiler?: LoadCompiler) =>
  (await import('./programs/start.ts')).start(product, loadCompiler)
/**
 * Runs the service without a command line: for `npm run dev`.
 * @example
 * ```ts
 * import { loadCompiler } from '@plant-store/compiler'
 * import { runService } from '@plant-store/engine'
 * import { product } from './product.ts'
 *
 * await runService(product, { loadCompiler })
 * ```
 */
export const runService = async (product: Product, sources: ContractSources) =>
  (await import('./programs/start.ts')).runService(product, sources)
/**
 * `npm run token`: issues, lists and revokes access tokens.
 * @example
 * ```ts
 * import { token } from '@plant-store/engine'
 * import { product } from './product.ts'
 *
 * await token(product)
 * ```
 */
export const token = async (product: Product) =>
  (await import('./programs/token.ts')).token(product)
