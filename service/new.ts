import { newService } from '@plant-store/compiler'
import { product } from './product.ts'

await newService(product)
