import { token } from '@plant-store/engine'
import { product } from './product.ts'

await token(product)
