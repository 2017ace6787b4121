import { generate } from '@plant-store/compiler'
import { product } from './product.ts'

await generate(product)
