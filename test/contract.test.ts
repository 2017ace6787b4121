// The tests of every promise of openapi.yaml: the package testing makes them.
import { testContract } from '@plant-store/testing'
import { product } from '../service/product.ts'

await testContract(product)
