// Checks the structure of a document by Redocly's linter, and reports its problems.
import { lint, type NormalizedProblem } from '@redocly/openapi-core'
import type { Diagnostics } from './diagnostics.ts'
import { checkingConfig, problemsOf } from './lint.ts'
import { resolveIn } from './references.ts'
import { type File, nameOf } from './source-locations.ts'
import { isNear } from './spelling.ts'
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

/** The rule about references, which the bundler checks, too. */
const UNRESOLVED = 'no-unresolved-refs'

export function reportProblem(
  problem: NormalizedProblem,
  isIgnored: boolean,
  file: File,
  diagnostics: Diagnostics,
): void {
  const { ruleId, location, message, severity } = problem
  const pointer = location[0]?.pointer ?? ''
  const isReference = ruleId === UNRESOLVED || ruleId === 'bundler'
  const key = isReference ? '/$ref' : ''
  const place = { file, pointer: pointer.replace(/^(#\/)?$/, '#') + key }
  const rule = isReference ? UNRESOLVED : ruleId
  const meant = nameMeant(problem, file)
  const finding = { rule, message: message.replaceAll('\n', ' '), meant }
  const isServed = /^#\/((paths|components)\/.*|[^/]+)$/.test(place.pointer)
  const isError = severity === 'error' && !(isServed && isIgnored)
  diagnostics.add(place, finding, isError, meant !== undefined)
}

/** The linter's suggestion for a key or a value, if it is near. */
function nameMeant({ location: [first], suggest }: NormalizedProblem, file: File) {
  const pointer = first?.pointer ?? '#/'
  const [key = ''] = pointer.split('/').slice(-1)
  const written =
    first?.reportOnKey === true ? nameOf(key) : resolveIn<unknown>(file.parsed, { $ref: pointer })
  return suggest.find((name) => isNear(String(written), name))
}
