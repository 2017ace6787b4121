// @plant-store/compiler 1.0.0, written by `npm run released`
import type { LoadCompiler } from '@plant-store/engine/for-compiler'
import type { Product } from '@plant-store/engine'
export declare const dev: (
  load: () => Promise<{
    product: Product
  }>,
) => Promise<void>
export declare const generate: (product: Product) => Promise<void>
export declare const lint: (product: Product) => Promise<void>
export declare const loadCompiler: LoadCompiler
export declare const newService: (product?: Product) => Promise<void>
export {}
