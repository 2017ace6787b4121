// Checks the structure of a document by Redocly's linter, and reports its problems.
import { lint, type NormalizedProblem } from '@redocly/openapi-core'
import type { Diagnostics } from './diagnostics.ts'
import { checkingConfig, problemsOf } from './lint.ts'
import type { File } from './source-locations.ts'
import type { FileResolver } from './yaml-files.ts'

export async function checkStructure(
  main: File,
  resolver: FileResolver,
  diagnostics: Diagnostics,
): Promise<void> {
  const ref = main.source.absoluteRef
  const config = await checkingConfig()
  const problems = await lint({ ref, externalRefResolver: resolver, config })
  for (const { problem, isIgnored } of problemsOf(problems))
    reportProblem(problem, isIgnored, main, diagnostics)
}

export function reportProblem(
  problem: NormalizedProblem,
  isIgnored: boolean,
  file: File,
  diagnostics: Diagnostics,
): void {
  const { ruleId, location, message, suggest, severity } = problem
  const pointer = location[0]?.pointer ?? ''
  const isReference = ruleId === 'no-unresolved-refs' || ruleId === 'bundler'
  const key = isReference ? '/$ref' : ''
  const place = { file, pointer: pointer.replace(/^(#\/)?$/, '#') + key }
  const finding = { rule: ruleId, message: message.replaceAll('\n', ' '), meant: suggest[0] }
  const isServed = /^#\/((paths|components)\/.*|[^/]+)$/.test(place.pointer)
  const isError = severity === 'error' && !(isServed && isIgnored)
  diagnostics.add(place, finding, isError, suggest.length > 0)
}
