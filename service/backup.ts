// `npm run backup`: saves, checks and restores the database.
import { backup } from '@plant-store/store'
import { product } from './product.ts'

await backup(product)
