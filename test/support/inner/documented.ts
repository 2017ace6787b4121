// Contracts, and whether an answer is documented, as the package testing reads them.
export { faultOf } from '../../../packages/testing/src/answers/documented.ts'
export { contractOf, type Operation } from '../../../packages/testing/src/contract/contract.ts'
export { follow, readDocument } from '../../../packages/testing/src/document/document.ts'
