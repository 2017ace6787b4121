// The tests that come from openapi.yaml.
import { testContract } from '@plant-store/testing'
import { product } from '../service/product.ts'

await testContract(product)
