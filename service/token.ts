import { token } from './engine/index.ts'
import { product } from './product.ts'

await token(product)
