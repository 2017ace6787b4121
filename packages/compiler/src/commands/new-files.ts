// Writes the files of a new service.
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { format, type Options } from 'prettier'
import { parse, parseDocument } from 'yaml'
import { inspect, type Inspected } from '../compile.ts'
import { toLine } from '../read/diagnostic-lines.ts'
import { writeGenerated } from './generate.ts'
import { LEFT_OUT, linterWords } from './linter.ts'
import { commit } from './new-commit.ts'
import { addPackages } from './new-packages.ts'
import { writeAgents, writeChangelog, writeReadme } from './new-pages.ts'
import type { Plan } from './new-plan.ts'
import { fitTemplates, repositoryOf } from './new-templates.ts'
import { type LeftOut, writeNginx, writeProduct, writeTest } from './new-texts.ts'
import { missingMethods, writeClass } from './stubs.ts'
import { readTemplates, type Source } from './templates.ts'

export interface Made {
  /** The steps left out, and why. */
  readonly warnings: readonly string[]
}

const execute = promisify(execFile)
/** The most bytes of the linter's output: it has a line or more for each problem. */
const MAX_OUTPUT = 2 ** 26
const CONTRACT = 'openapi.yaml'
const GENERATED = 'service/contract.gen.ts'
const NGINX = 'deploy/nginx.conf'
/** The linter's rules, which come with the compiler: their place from the folder of a service. */
const RULES = 'node_modules/@plant-store/compiler/dist/read/refusals.yaml'

/** Makes the service in an empty folder. */
export async function makeService(plan: Plan, folder: string, source: Source): Promise<Made> {
  const templates = readTemplates(source.product)
  const write = (file: string, text: string) => writeFile(folder, file, text)
  const files = fitTemplates(templates, plan, { hasVendor: !source.isFromRegistry, rules: RULES })
  for (const [file, text] of files) write(file, text)
  write(NGINX, writeNginx(files.get(NGINX) ?? '', plan))
  write(CONTRACT, plan.contract)
  write('README.md', writeReadme(plan, repositoryOf(templates.project), source.isFromRegistry))
  write('AGENTS.md', writeAgents(plan))
  write('CHANGELOG.md', writeChangelog(plan))
  const style = { ...templates.project.prettier, parser: 'typescript' }
  await leaveOutProblems(folder)
  for (const [file, text] of await codeOf(plan, folder, style)) write(file, text)
  const left = await addPackages(templates, plan, { ...source, folder })
  const uncommitted = await commit(folder, `Make ${plan.title}`)
  return { warnings: [left, uncommitted].filter((warning) => warning !== undefined) }
}

function writeFile(folder: string, file: string, text: string): void {
  const path = join(folder, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** The code from the contract, by file. */
async function codeOf(
  plan: Plan,
  folder: string,
  style: Options,
): Promise<ReadonlyMap<string, string>> {
  const paths = { file: join(folder, CONTRACT), target: join(folder, GENERATED) }
  const guards = Object.fromEntries(plan.guards.map((name) => [name, () => undefined]))
  const leftOut = plan.refused.length === 0 ? [] : leftOutOf(await inspect(paths.file, { guards }))
  const without = leftOut.map(({ name }) => name)
  const inspected = await inspect(paths.file, { guards, without })
  const methods = missingMethods(inspected, [])
  const name = plan.className
  const pretty = (code: string) => format(code, style)
  return new Map([
    [GENERATED, writeGenerated(inspected, paths)],
    ['service/product.ts', await pretty(writeProduct(plan, leftOut))],
    [`service/${plan.slug}-service.ts`, await pretty(writeClass({ name, code: '.', methods }))],
    [`test/${plan.slug}-service.test.ts`, await pretty(writeTest(plan))],
  ])
}

/** The refused operations of a contract. */
function leftOutOf({ errors, names }: Inspected): LeftOut[] {
  const leftOut = new Map<string, LeftOut>()
  for (const [operation, name] of names) {
    const reasons = errors
      .filter(({ operations }) => operations?.includes(operation))
      .map((error) => toLine({ ...error, at: { ...error.at, file: CONTRACT } }))
    if (reasons.length > 0) leftOut.set(name, { name, reasons: [...new Set(reasons)] })
  }
  return [...leftOut.values()]
}

/** Stores the problems of the document as they are: the strict rules of `redocly.yaml` hold for later changes only. */
async function leaveOutProblems(folder: string): Promise<void> {
  const file = join(folder, 'redocly.yaml')
  const text = readFileSync(file, 'utf8')
  // The packages are not installed yet.
  const rules = join(dirname(import.meta.dirname), 'read/refusals.yaml')
  writeFileSync(
    file,
    text.replace(RULES, () => JSON.stringify(rules)),
  )
  const words = linterWords(folder, [CONTRACT, '--generate-ignore-file'], [])
  const lint = () => execute(process.execPath, words, { cwd: folder, maxBuffer: MAX_OUTPUT })
  await lint().catch(async () => {
    rewrite(join(folder, CONTRACT))
    await lint().catch((error: unknown) => {
      throw linterFault(error, folder)
    })
  })
  writeFileSync(file, text)
  const ignored = join(folder, LEFT_OUT)
  const isClean = Object.keys(parse(readFileSync(ignored, 'utf8')) as object).length === 0
  if (isClean) rmSync(ignored)
}

/**
 * Writes a document in the usual layout, with its comments. The parser of the linter is stricter: it wants the end of a list
 * farther to the right than its key.
 */
function rewrite(file: string): void {
  const document = parseDocument(readFileSync(file, 'utf8'), { intAsBigInt: true })
  writeFileSync(file, document.toString({ lineWidth: 0 }))
}

/** The error of a document that the linter can't read, without paths of this machine. */
function linterFault(error: unknown, folder: string): Error {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : ''
  const message = said
    .replaceAll(`${realpathSync(folder)}/`, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return new Error(`the linter can't read the document: ${message}`, { cause: error })
}
