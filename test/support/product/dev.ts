import { dev } from '../../../service/engine/index.ts'

await dev(() => import('./product.ts'))
