import { backup } from '@plant-store/store'
import { product } from './product.ts'

await backup(product)
