// `npm run dev`: runs the service for development. The first process watches the code, and after each change it restarts
// the second process, which is the service. That one watches the contract, and serves each change without a restart,
// because this is faster. The first process also prints what `npm run check` would say of the contract and the types.
import { type ChildProcess, execFile, fork, spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, watch } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { enableCompileCache } from 'node:module'
import { constants, setPriority } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { parseDocument } from 'yaml'
import type { Parts } from '../app.ts'
import type { Product } from '../define-product.ts'
import { readWords, runCommand } from './command.ts'
import { reasonOf } from '../errors.ts'
import type { Running } from './start.ts'

const USAGE = 'usage: dev   runs the service, which follows its contract and its code while they change'
/** The words with which the command runs itself again. */
const SERVICE = 'service'
const GENERATE = 'generate'
/** The program that was started, and the folder with the code. */
const PROGRAM = String(process.argv[1])
const CODE = dirname(PROGRAM)
const LINT = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'))
const TSC = fileURLToPath(import.meta.resolve('typescript/bin/tsc'))
const CACHE = join(CODE, '../.dev/cache')
const LAST_GOOD = join(CODE, '../.dev/openapi.yaml')
const TYPES = join(CODE, '../.dev/tsconfig.json')
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

/** Runs the command, or one of its processes. @param load imports the product */
export async function dev(load: () => Promise<{ product: Product }>): Promise<void> {
  if (process.argv[2] === SERVICE) {
    enableCompileCache(CACHE)
    process.once('disconnect', () => process.exit())
    const { product } = await load() // before the log is opened, so that Node prints the place of a fault in the code
    await (await import('./start.ts')).runService(product, serveContract)
  } else if (process.argv[2] === GENERATE) {
    const { contract, ...product } = (await load()).product
    const { generateTypes } = await import('./generate.ts')
    await writeFile(contract.generated, await generateTypes(fileURLToPath(contract.file), contract.generated, product))
  } else {
    await runCommand(USAGE, async (words) => {
      readWords(words, [], {})
      await mkdir(dirname(TYPES), { recursive: true })
      await writeFile(TYPES, JSON.stringify(TYPES_OF_SERVICE))
      serveCode()
    })
  }
}

function serveCode(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit()) // ends the checks, too
  let service: ChildProcess | undefined
  /** The sum of what the service has said of the contract. */
  let said = ''
  const start = async () => {
    if (service?.kill('SIGKILL') === true) await once(service, 'exit') // a regular stop would take longer
    service = fork(PROGRAM, [SERVICE, said]).on('message', (text) => (said = typeof text === 'string' ? text : ''))
  }
  // Generated types have no effect at run time.
  watchFiles(CODE, (file) => file.endsWith('.ts') && !file.endsWith('.gen.ts'), start, start())
  // The service generates the types at its start and at each change of the contract, unless it refuses the contract.
  const checks = [
    checker('openapi.yaml', LINT, 'lint', 'openapi.yaml', '--format=stylish'),
    checker('types', TSC, '-p', TYPES),
  ]
  const check = async () => checks.forEach((each) => each())
  watchFiles(CODE, (file) => file.endsWith('.gen.ts'), check, Promise.resolve())
}

/**
 * Runs a program that checks something, and prints what it finds, unless it has found the same before.
 * @param name of what is checked
 * @param words the program, and its arguments
 * @returns begins a check; one that still runs is given up
 */
function checker(name: string, ...words: string[]): () => void {
  let running: ChildProcess | undefined
  let said = ''
  process.once('exit', () => running?.kill())
  return () => {
    running?.kill()
    running = execFile(process.execPath, words, (fault, found) => {
      if (fault?.killed === true || found === said) return
      console.error(found || `${name}: nothing is left to fix`)
      said = found
    })
    setPriority(Number(running.pid), constants.priority.PRIORITY_LOW) // a reload goes first
  }
}

/**
 * Serves the contract, and reloads it after changes. An operation with a fault is answered 501. If nothing can be served, the
 * last good contract stays, unless it has another title: then it is another contract.
 */
async function serveContract(parts: Parts): Promise<Running> {
  const { buildApp, fileOf } = await import('../app.ts')
  const { readDraft } = await import('../contract/compile/draft.ts')
  const { listen } = await import('../http/server.ts')
  const { product, config, log } = parts
  const file = fileOf(product)
  const running: Running = {}
  let generating: ChildProcess | undefined
  let isFaulty = false
  const watched = new Set([file])
  const folders = new Set<string>()
  /** The sum of what has been said, also by the process before this one. */
  let said = process.argv[3] ?? ''

  const say = (lines: readonly string[]) => {
    const text = lines.join('\n')
    const sum = text && hash('sha256', text) // the text may be longer than a word of a command line
    if (sum !== said) log[isFaulty ? 'error' : 'info'](text || `${basename(file)}: nothing is left to fix`)
    process.send?.((said = sum))
  }
  const build = async (contract: NonNullable<Parts['contract']>) => buildApp({ ...parts, contract, draft: true })
  const serve = async (next: FastifyInstance): Promise<void> => {
    running.app?.server.closeAllConnections()
    await running.app?.close()
    running.app = next
    await listen(next, config.HOST, config.PORT, 'PORT', next.contract.prefix)
  }
  /** Goes on with the last good contract, or ends it. */
  const goOn = async (): Promise<void> => {
    const last = running.app ? String(running.app.contract.bytes) : readText(LAST_GOOD)
    const title = titleOf(readText(file))
    const isOther = title !== undefined && title !== titleOf(last)
    if (isOther) await running.app?.close()
    if (isOther) delete running.app
    else if (!running.app && last !== '') await serve(await build(LAST_GOOD))
  }
  const update = async (): Promise<void> => {
    let next: FastifyInstance | undefined
    try {
      const draft = await readDraft(file, config.BASE_URL, product)
      for (const each of draft.files) watched.add(each)
      if (draft.contract) next = await build(draft.contract)
      isFaulty = draft.isFaulty
      say(draft.said)
    } catch (error) {
      isFaulty = true
      say([reasonOf(error)])
    }
    if (!next) await goOn()
    else {
      await serve(next)
      await writeFile(LAST_GOOD, next.contract.bundle ?? readText(file))
      generating?.kill() // It may have read the previous contract.
      if (!isFaulty) generating = spawn(process.execPath, [PROGRAM, GENERATE], { stdio: 'inherit' })
    }
    for (const folder of new Set([...watched].map((each) => dirname(each)))) {
      if (folders.has(folder)) continue
      folders.add(folder)
      const isWatched = (each: string) => watched.has(join(folder, each)) || (isFaulty && DOCUMENT.test(each))
      watchFiles(folder, isWatched, again, Promise.resolve())
    }
  }
  let latest = Promise.resolve()
  const again = () => (latest = latest.then(update))
  await again()
  return running
}

/** The text of a file; empty if there is none. */
function readText(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

/** The title of a contract that may be broken. */
function titleOf(text: string): string | undefined {
  const title: unknown = parseDocument(text).getIn(['info', 'title'])
  return typeof title === 'string' ? title : undefined
}

/** Runs a task after each change of some files in a folder. @param previous must end before the task begins */
function watchFiles(
  folder: string,
  isWatched: (file: string) => boolean,
  task: () => Promise<unknown>,
  previous: Promise<unknown>,
): void {
  let timer: NodeJS.Timeout | undefined
  watch(folder, { recursive: folder === CODE }, (_event, file) => {
    if (file === null || !isWatched(file)) return
    clearTimeout(timer)
    timer = setTimeout(() => (previous = previous.then(task)), DEBOUNCE_TIMEOUT)
  })
}
