import { generate } from '../../../service/compiler/index.ts'
import { product } from './product.ts'

await generate(product)
