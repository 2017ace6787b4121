import { loadCompiler } from './compiler/index.ts'
import { start } from './engine/index.ts'
import { product } from './product.ts'

await start(product, loadCompiler)
