import { copy } from './store/index.ts'
import { product } from './product.ts'

await copy(product)
