import { copy } from './engine/index.ts'
import { product } from './product.ts'

await copy(product)
