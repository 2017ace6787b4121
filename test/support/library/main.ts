// Starts the library, as `npm start` of a service does.
import { loadCompiler } from '@plant-store/compiler'
import { start } from '@plant-store/engine'
import { product } from './product.ts'

await start(product, loadCompiler)
