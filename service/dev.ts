import { dev } from './compiler/index.ts'

await dev(() => import('./product.ts'))
