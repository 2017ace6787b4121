// A part of `npm run check`: the linter of the contract.
import { lint } from '@plant-store/compiler'
import { product } from './product.ts'

await lint(product)
