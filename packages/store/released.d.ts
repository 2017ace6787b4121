// @plant-store/store 1.0.0, written by `npm run released`
import type { OpenStore } from '@plant-store/engine/for-store'
import type { Product } from '@plant-store/engine'
export declare const backup: (product: Product) => Promise<void>
export declare const copy: (product: Product) => Promise<void>
export declare const openStore: OpenStore
export declare const testStore: <Collections>(product: Product<Collections>) => Promise<Collections>
export {}
