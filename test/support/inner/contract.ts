// Contracts and items as the engine reads them.
export { readContract } from '../../../packages/engine/src/contract/contract.ts'
export { storedIndexes } from '../../../packages/engine/src/contract/indexes.ts'
export { itemReader, itemWriter } from '../../../packages/engine/src/contract/items.ts'
