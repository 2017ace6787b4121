import { backup } from '../../../service/store/index.ts'
import { product } from './product.ts'

await backup(product)
