import { dev } from '../../../service/compiler/index.ts'

await dev(() => import('./product.ts'))
