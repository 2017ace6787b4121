// `npm run dev`: runs the service for development. The first process starts the second one, which is the service, and starts
// it again after each change of the code or the contract. It also writes the types, and prints what `npm run check` would say.
import { type ChildProcess, execFile, fork } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { constants, setPriority } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { parseDocument } from 'yaml'
import type { Parts } from '../app.ts'
import type { Draft } from '../contract/compile/draft.ts'
import type { Product } from '../define-product.ts'
import { reasonOf } from '../errors.ts'
import { readWords, runCommand } from './command.ts'

const USAGE = 'usage: dev   runs the service, which follows its contract and its code while they change'
/** The word with which the command runs itself as the service. */
const SERVICE = 'service'
/** The program that was started, and the folder with the code. */
const PROGRAM = String(process.argv[1])
const CODE = dirname(PROGRAM)
const LINT = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'))
const TSC = fileURLToPath(import.meta.resolve('typescript/bin/tsc'))
const FOLDER = join(CODE, '../.dev')
const LAST_GOOD = join(FOLDER, 'openapi.yaml')
const TYPES = join(FOLDER, 'tsconfig.json')
/** The types of the service only, checked anew only where they have changed. */
const TYPES_OF_SERVICE = {
  extends: '../tsconfig.json',
  compilerOptions: { incremental: true, tsBuildInfoFile: 'types.json', pretty: false },
  include: [CODE],
}
/** While a contract has faults, each of these may be a file that it misses. */
const DOCUMENT = /\.(ya?ml|json)$/
/** Milliseconds to wait for further changes: editors write a file in several steps. */
const DEBOUNCE_TIMEOUT = 50

/** What the service tells the first process of its contract. */
interface Report extends Pick<Draft, 'files' | 'isFaulty'> {
  /** The sum of what was said. */
  readonly said: string
  /** The served document. */
  readonly served: string | undefined
}

/** Runs the command, or the service. @param load imports the product */
export async function dev(load: () => Promise<{ product: Product }>): Promise<void> {
  if (process.argv[2] !== SERVICE) {
    await runCommand(USAGE, async (words) => {
      readWords(words, [], {})
      serveChanges()
    })
    return
  }
  enableCompileCache(join(FOLDER, 'cache'))
  process.once('disconnect', () => process.exit())
  const { product } = await load() // before the log is opened, so that Node prints the place of a fault in the code
  await (await import('./start.ts')).runService(product, openDraft)
}

function serveChanges(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit()) // ends the checks, too
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(TYPES, JSON.stringify(TYPES_OF_SERVICE))
  process.once('exit', stopPrograms)
  const checks = [
    checker('openapi.yaml', LINT, 'lint', 'openapi.yaml', '--format=stylish'),
    checker('types', TSC, '-p', TYPES),
  ]
  const check = (_: string, fault: string) => {
    if (fault !== '') console.error(fault)
    else for (const each of checks) each()
  }
  let service: ChildProcess | undefined
  let said = ''
  let isFaulty = true
  const files = new Set<string>()

  const restart = async () => {
    stopPrograms()
    if (service?.kill('SIGKILL') === true) await once(service, 'exit') // a regular stop would take longer
    service = fork(PROGRAM, [SERVICE, said]).on('message', (message) => {
      const report = message as Report // only `openDraft` sends messages
      ;({ said, isFaulty } = report)
      for (const file of report.files) files.add(file)
      for (const file of files) follow(dirname(file))
      if (report.served !== undefined) writeFileSync(LAST_GOOD, report.served)
      if (!isFaulty) runProgram([join(CODE, 'generate.ts')], check)
    })
  }
  const folders = new Set<string>()
  const follow = (folder: string) => {
    if (folders.has(folder)) return
    folders.add(folder)
    watch(folder, { recursive: folder === CODE }, (_event, name) => {
      const file = join(folder, name ?? '')
      // Generated types have no effect at run time.
      const isCode = file.startsWith(CODE) && /(?<!\.gen)\.ts$/.test(file)
      if (!isCode && !files.has(file) && !(isFaulty && DOCUMENT.test(file))) return
      clearTimeout(timer)
      timer = setTimeout(() => (latest = latest.then(restart)), DEBOUNCE_TIMEOUT)
    })
  }
  let timer: NodeJS.Timeout | undefined
  let latest = restart()
  follow(CODE)
}

/** Makes the function that runs a program which checks something. It prints what that finds, unless it did so the last time. */
function checker(name: string, ...words: string[]): () => void {
  let said = ''
  const say = (found: string) => {
    if (found !== said) console.error(found || `${name}: nothing is left to fix`)
    said = found
  }
  return () => runProgram(words, say)
}

/** The programs that run beside the service. */
const programs = new Set<ChildProcess>()

/** @param done gets what the program printed, and why it failed; it is not called for a program that was stopped */
function runProgram(words: readonly string[], done: (found: string, fault: string) => void): void {
  const program = execFile(process.execPath, words, (error, found, fault) => {
    programs.delete(program)
    if (error?.killed !== true) done(found, error ? fault : '')
  })
  programs.add(program)
  setPriority(Number(program.pid), constants.priority.PRIORITY_LOW) // a restart goes first
}

function stopPrograms(): void {
  for (const each of programs) each.kill()
}

/**
 * Serves the contract. An operation with a fault is answered 501. If nothing can be served, the last good contract is, unless
 * it has another title: then it is another contract.
 */
async function openDraft(parts: Parts): Promise<FastifyInstance | undefined> {
  const { buildApp } = await import('../app.ts')
  const { readDraft } = await import('../contract/compile/draft.ts')
  const { listen } = await import('../http/server.ts')
  const { log } = await import('../ops/log.ts')
  const { product, config } = parts
  const build = async (from: string) => {
    try {
      const { contract, ...draft } = await readDraft(from, config.BASE_URL, product)
      return { ...draft, app: contract && (await buildApp({ ...parts, draft: contract })) }
    } catch (error) {
      return { files: [], said: [reasonOf(error)], isFaulty: true, app: undefined }
    }
  }
  const file = fileURLToPath(product.contract.file)
  const draft = await build(file)
  const isOther = ![undefined, titleOf(LAST_GOOD)].includes(titleOf(file))
  const app = draft.app ?? (isOther ? undefined : (await build(LAST_GOOD)).app)
  if (app) await listen(app, config.HOST, config.PORT, 'PORT', app.contract.prefix)

  const text = draft.said.join('\n')
  const said = text && hash('sha256', text) // the text may be longer than a word of a command line
  if (said !== process.argv[3]) {
    log[draft.isFaulty ? 'error' : 'info'](text || `${basename(file)}: nothing is left to fix`)
    log.flush() // The next change may end this process at once.
  }
  const served = draft.app && String(draft.app.contract.bytes)
  process.send?.({ files: [file, ...draft.files], isFaulty: draft.isFaulty, said, served } satisfies Report)
  return app
}

/** The title of a contract that may be broken, or absent. */
function titleOf(file: string): string | undefined {
  const title: unknown = parseDocument(existsSync(file) ? readFileSync(file, 'utf8') : '').getIn(['info', 'title'])
  return typeof title === 'string' ? title : undefined
}
