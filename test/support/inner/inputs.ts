// Makes inputs of an operation, as the tests from a contract do.
export { isCursor } from '../../../packages/testing/src/requests/parameters.ts'
export { exampleOf, toCall } from '../../../packages/testing/src/requests/requests.ts'
export { arbitraryOf } from '../../../packages/testing/src/schemas/samples.ts'
