// `npm run generate`: writes contract.gen.ts from openapi.yaml.
import { generate } from '@plant-store/compiler'
import { product } from './product.ts'

await generate(product)
