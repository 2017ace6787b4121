import { copy } from '../../../service/engine/index.ts'
import { product } from './product.ts'

await copy(product)
