import { generate } from '../../../service/engine/index.ts'
import { product } from './product.ts'

await generate(product)
