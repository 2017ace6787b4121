// `npm run dev`: serves, and follows the contract and the code.
import { dev } from '@plant-store/compiler'

await dev(() => import('./product.ts'))
