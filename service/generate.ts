import { generate } from './engine/index.ts'
import { product } from './product.ts'

await generate(product)
