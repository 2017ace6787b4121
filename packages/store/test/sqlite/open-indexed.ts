// Opens a file of books with an index, which is made by it.
import { argv } from 'node:process'
import { readConfig } from '@plant-store/engine'
import type { Collections } from '@plant-store/engine/for-store'
import { openDatabase } from '../../src/open.ts'

const [, , file = '', collections = ''] = argv
await openDatabase({
  database: { file },
  collections: JSON.parse(collections) as Collections, // of the test
  isExclusive: true,
  settings: readConfig('', {}),
})
