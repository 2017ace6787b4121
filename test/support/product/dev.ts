import { dev } from '@plant-store/compiler'

await dev(() => import('./product.ts'))
