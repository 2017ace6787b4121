// Writes contract.gen.ts of the library.
import { generate } from '@plant-store/compiler'
import { product } from './product.ts'

await generate(product)
