import { loadCompiler } from '@plant-store/compiler'
import { start } from '@plant-store/engine'
import { product } from './product.ts'

await start(product, loadCompiler)
