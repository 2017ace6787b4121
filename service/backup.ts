import { backup } from './store/index.ts'
import { product } from './product.ts'

await backup(product)
