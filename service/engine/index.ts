// The door of the engine: the only file that others import, but for what `test/rooms.test.ts` allows the other houses.
import type { LoadCompiler } from './contract/contract.ts'
import type { Product } from './define-product.ts'
import type { ContractSources } from './programs/start.ts'

// For product.ts and the classes with the methods:
export { defineProduct } from './define-product.ts'
export type { Product } from './define-product.ts'
export type { Identity, ProductGuard } from './contract/extensions.ts'
export type { CompiledContract, Mark } from './contract/compiled.ts'
export type { RequestOf, ResultOf, Sent } from './contract/types.ts'
export { refusal } from './contract/refusal.ts'
export type { JsonText } from './http/json.ts'
export type { Collection, Page } from './store.ts'

// For the commands of the other houses:
export { type Config, readConfig } from './config.ts'
export { printError } from './ops/terminal.ts'
export { oneOf, readWords, runCommand } from './programs/command.ts'

// Each program loads only what it needs.
/**
 * `npm start`: runs the service until a signal.
 * @param loadCompiler imports the compiler, for a contract that has changed since it was generated
 */
export const start = async (product: Product, loadCompiler?: LoadCompiler) =>
  (await import('./programs/start.ts')).start(product, loadCompiler)
/** Runs the service without a command line: for `npm run dev`. */
export const runService = async (product: Product, sources: ContractSources) =>
  (await import('./programs/start.ts')).runService(product, sources)
/** `npm run token`: issues, lists and revokes access tokens. */
export const token = async (product: Product) =>
  (await import('./programs/token.ts')).token(product)
