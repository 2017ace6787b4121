import { generate } from './compiler/index.ts'
import { product } from './product.ts'

await generate(product)
