// The door of the compiler: the commands of a service, which make contract.gen.ts from openapi.yaml.
import type { Product } from '@plant-store/engine'
import type { LoadCompiler } from '@plant-store/engine/for-compiler'

// Imports are dynamic, so that each command loads only its own modules.
/**
 * Lets `start` compile a contract changed since `npm run generate`.
 * @example
 * ```ts
 * import { loadCompiler } from '@plant-store/compiler'
 * import { start } from '@plant-store/engine'
 * import { product } from './product.ts'
 *
 * await start(product, loadCompiler)
 * ```
 */
export const loadCompiler: LoadCompiler = () => import('./compile.ts')
/**
 * `npm run generate`: compiles the contract, and writes it with its types.
 * @example
 * ```ts
 * import { generate } from '@plant-store/compiler'
 * import { product } from './product.ts'
 *
 * await generate(product)
 * ```
 */
export const generate = async (product: Product) =>
  (await import('./commands/generate.ts')).generate(product)
/**
 * `npm run dev`: runs the service, and follows changes of its contract and its code.
 * @param load imports the product, only in the process of the service: a fault in it does not end the watch
 * @example
 * ```ts
 * import { dev } from '@plant-store/compiler'
 *
 * await dev(() => import('./product.ts'))
 * ```
 */
export const dev = async (load: () => Promise<{ product: Product }>) =>
  (await import('./commands/dev.ts')).dev(load)
/**
 * Runs Redocly's linter, a part of `npm run check`. It reads only the working folder, and fetches no URL.
 * @example
 * ```ts
 * import { lint } from '@plant-store/compiler'
 * import { product } from './product.ts'
 *
 * await lint(product)
 * ```
 */
export const lint = async (product: Product) => (await import('./commands/linter.ts')).lint(product)
/**
 * `npm run new`: makes a service of another contract, in a new folder.
 * @param product the clone's product. An installed compiler needs none: it brings the files of a service along
 * @example
 * ```ts
 * import { newService } from '@plant-store/compiler'
 * import { product } from './product.ts'
 *
 * await newService(product)
 * ```
 */
export const newService = async (product?: Product) =>
  (await import('./commands/new-service.ts')).newService(product)
