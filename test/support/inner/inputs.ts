// Inputs of an operation, as the tests that come from a contract make them.
export { isCursor } from '../../../packages/testing/src/requests/parameters.ts'
export { exampleOf, toCall } from '../../../packages/testing/src/requests/requests.ts'
export { arbitraryOf } from '../../../packages/testing/src/schemas/arbitrary.ts'
