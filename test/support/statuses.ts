// After a test run, names each status of the contract that no test got.
import { globSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { FILE } from '../../packages/testing/src/answers/statuses.ts'
import { contractOf } from '../../packages/testing/src/contract/contract.ts'
import { product } from '../../service/product.ts'

const { file, operations } = await contractOf(product)
const name = relative('.', file)
const produced = new Set(readFileSync(FILE, 'utf8').split('\n'))
const declared = operations.flatMap(({ id, responses }) =>
  [...responses.keys()].map((status) => `${id} ${status}`),
)
const missing = declared.filter((status) => !produced.has(`${name} ${status}`))
for (const status of missing)
  console.error(`${status}: declared in ${name}, but no test has produced it`)
// What only a method can decide is for tests of its own. A new product has none yet.
const hasTests = globSync('test/product/*.test.ts').length > 0
if (hasTests && missing.length > 0) process.exitCode = 1
