import { loadCompiler } from '../../../service/compiler/index.ts'
import { start } from '../../../service/engine/index.ts'
import { product } from './product.ts'

await start(product, loadCompiler)
