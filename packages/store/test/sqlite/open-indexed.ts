// Opens a file of books with indexes, which are made by it.
import { argv } from 'node:process'
import { readConfig } from '@plant-store/engine'
import type { StoredIndex } from '@plant-store/engine/for-store'
import { openDatabase } from '../../src/open.ts'

const [, , file = '', indexes = ''] = argv
const readIndexes = async () => JSON.parse(indexes) as StoredIndex[] // of the test
await openDatabase({
  database: { file },
  collections: { books: { key: 'text', readIndexes } },
  isExclusive: true,
  settings: readConfig('', {}),
})
