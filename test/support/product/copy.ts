import { copy } from '../../../service/store/index.ts'
import { product } from './product.ts'

await copy(product)
