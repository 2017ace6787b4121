// Records the answers of a test run.
import { appendFileSync, mkdirSync } from 'node:fs'
import { relative } from 'node:path'
import type { Contract } from '../contract/contract.ts'

/** The answers of all test processes. `npm test` deletes this file first. */
export const ANSWERS = '.tap/answers'

const seen = new Set<string>()

/** Records an answer. @param status as the contract names it */
export function record({ file }: Contract, operationId: string, status: string): void {
  const line = `${relative('.', file)} ${operationId} ${status}`
  if (seen.has(line)) return
  seen.add(line)
  mkdirSync('.tap', { recursive: true })
  appendFileSync(ANSWERS, `${line}\n`)
}
