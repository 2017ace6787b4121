import { lint } from '@plant-store/compiler'
import { product } from './product.ts'

await lint(product)
