// The door of the compiler, which makes contract.gen.ts from openapi.yaml.
import type { Product } from '@plant-store/engine'
import type { LoadCompiler } from '@plant-store/engine/for-compiler'

// A program imports only its own modules, so that it starts faster.
/**
 * Compiles the contract of a start, if it has changed since `npm run generate`.
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
 * `npm run generate`: compiles the contract, and writes its types.
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
 * `npm run dev`: runs the service, which follows its contract and its code.
 * @param load imports the product. It is imported only in the process of the service: a fault in it does not end the watch
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
 * A part of `npm run check`: Redocly's linter, which reads the working folder, and asks no URL.
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
 * `npm run new`: makes a service of another contract, in a folder of its own.
 * @param product of the clone that it runs in. An installed compiler needs none: it has the files with it
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
