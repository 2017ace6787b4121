import { loadCompiler } from '../../../service/compiler/index.ts'
import { start } from '@plant-store/engine'
import { product } from './product.ts'

await start(product, loadCompiler)
