import { lint } from './compiler/index.ts'
import { product } from './product.ts'

await lint(product)
