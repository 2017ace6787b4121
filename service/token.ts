// `npm run token`: issues, lists and revokes access tokens.
import { token } from '@plant-store/engine'
import { product } from './product.ts'

await token(product)
