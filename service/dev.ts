import { dev } from './engine/index.ts'

await dev(() => import('./product.ts'))
