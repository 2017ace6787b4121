// The door of the compiler: what makes contract.gen.ts from openapi.yaml.
import type { Product } from '../engine/index.ts'
import { loadProgram } from './development.ts'

// Each program loads only what it needs.
/** Compiles the contract of a start, if it has changed since `npm run generate`. */
export const loadCompiler = () => import('./compile.ts')
/** `npm run generate`: compiles the contract, and writes its types. */
export const generate = async (product: Product) =>
  (await loadProgram(() => import('./generate.ts'))).generate(product)
/**
 * `npm run dev`: runs the service, which follows its contract and its code.
 * @param load imports the product. It is imported only in the process of the service: a fault in it does not end the watch
 */
export const dev = async (load: () => Promise<{ product: Product }>) =>
  (await loadProgram(() => import('./dev.ts'))).dev(load)
