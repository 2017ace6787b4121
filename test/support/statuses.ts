// Records the answers of a test run. As a program, after the run, it names each status of the contract that no test got.
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import { operations } from './contract.ts'

/** The answers of all test processes. `npm test` deletes this file first. */
const FILE = '.tap/answers'

/** Statuses that no test can produce, and why: by operationId and status. */
const EXCUSED: Readonly<Record<string, string>> = {}

const seen = new Set<string>()

/** Records an answer. @param status as the contract names it */
export function record(operationId: string, status: string): void {
  const line = `${operationId} ${status}`
  if (seen.has(line)) return
  seen.add(line)
  mkdirSync('.tap', { recursive: true })
  appendFileSync(FILE, `${line}\n`)
}

if (import.meta.main) {
  const produced = new Set(readFileSync(FILE, 'utf8').split('\n'))
  const declared = operations.flatMap(({ id, responses }) => [...responses.keys()].map((status) => `${id} ${status}`))
  const missing = declared.filter((each) => !produced.has(each) && !(each in EXCUSED))
  const idle = Object.keys(EXCUSED).filter((each) => produced.has(each) || !declared.includes(each))
  for (const each of missing) console.error(`${each}: declared in openapi.yaml, but no test has produced it`)
  for (const each of idle)
    console.error(`${each}: excused in test/support/statuses.ts, but it is produced or not declared`)
  if (missing.length + idle.length > 0) process.exitCode = 1
}
