import { lint } from '../../../service/compiler/index.ts'
import { product } from './product.ts'

await lint(product)
