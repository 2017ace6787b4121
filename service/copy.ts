// `npm run copy`: copies the data from one engine of the store to the other.
import { copy } from '@plant-store/store'
import { product } from './product.ts'

await copy(product)
