import { backup } from './engine/index.ts'
import { product } from './product.ts'

await backup(product)
