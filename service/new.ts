// `npm run new`: makes a service of another contract.
import { newService } from '@plant-store/compiler'
import { product } from './product.ts'

await newService(product)
