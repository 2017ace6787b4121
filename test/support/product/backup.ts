import { backup } from '../../../service/engine/index.ts'
import { product } from './product.ts'

await backup(product)
