// The contract of the tests' product, and checks of answers that are bound to it.
import { contractOf } from '../inner/documented.ts'
import * as documented from '../../../packages/testing/src/answers/documented.ts'
import * as contractPaths from '../../../packages/testing/src/contract/paths.ts'
import { product } from '../product/product.ts'

const contract = await contractOf(product)

export const { file: OPENAPI, operations, paths } = contract
export const allowOf = contractPaths.allowOf.bind(undefined, contract)
export const assertDocumented = documented.assertDocumented.bind(undefined, contract)
export const faultOf = documented.faultOf.bind(undefined, contract)
