// `npm start`: runs the service.
import { start } from '@plant-store/engine'
import { product } from './product.ts'

// An image has no compiler: it serves the contract that was compiled before.
await start(product, async () => (await import('@plant-store/compiler')).loadCompiler())
