// Names the statuses of a contract which no test of a run has produced.
import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Product } from '@plant-store/engine'
import { contractOf } from '../contract/contract.ts'
import { ANSWERS } from './statuses.ts'

/** Names each declared status without an answer in the run. */
export async function missingStatuses(product: Product): Promise<string[]> {
  const { file, operations } = await contractOf(product)
  const name = relative('.', file)
  const produced = new Set(existsSync(ANSWERS) ? readFileSync(ANSWERS, 'utf8').split('\n') : [])
  const declared = operations.flatMap(({ id, responses }) =>
    [...responses.keys()].map((status) => `${id} ${status}`),
  )
  return declared
    .filter((status) => !produced.has(`${name} ${status}`))
    .map((status) => `${status}: declared in ${name}, but no test has produced it`)
}
