// Records the answers of a test run. As a program, after the run, it names each status of the contract that no test got.
import { appendFileSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { type Contract, contractOf } from './contract.ts'

/** The answers of all test processes. `npm test` deletes this file first. */
const FILE = '.tap/answers'

const seen = new Set<string>()

/** Records an answer. @param status as the contract names it */
export function record({ file }: Contract, operationId: string, status: string): void {
  const line = `${relative('.', file)} ${operationId} ${status}`
  if (seen.has(line)) return
  seen.add(line)
  mkdirSync('.tap', { recursive: true })
  appendFileSync(FILE, `${line}\n`)
}

if (import.meta.main) {
  const { product } = await import('../../service/product.ts')
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
}
