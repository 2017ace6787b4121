import { token } from '../../../service/engine/index.ts'
import { product } from './product.ts'

await token(product)
