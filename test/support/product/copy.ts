import { copy } from '@plant-store/store'
import { product } from './product.ts'

await copy(product)
