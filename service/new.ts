import { newService } from './compiler/index.ts'
import { product } from './product.ts'

await newService(product)
