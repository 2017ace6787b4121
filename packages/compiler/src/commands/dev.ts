// `npm run dev`: runs the service for development. The first process starts the service as a second process, and starts it
// again when a file is newer than the start. So no change is missed.
import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Contract, ProductHooks } from '@plant-store/engine/for-compiler'
import { type Product, runService } from '@plant-store/engine'
import { printError, readWords, runCommand } from '@plant-store/engine/for-commands'

const USAGE = `usage: dev [--examples]   runs the service, which follows its contract and its code while they change
  --examples   answers an operation without a method with the first example of the contract`
/** The argument for the second process. */
const SERVICE = 'service'
/** A further argument: operations without a method answer an example. */
const EXAMPLES = 'examples'
/** The started program, and the folder with the code. */
const PROGRAM = String(process.argv[1])
const CODE = dirname(PROGRAM)
const TSC = fileURLToPath(import.meta.resolve('typescript/bin/tsc'))
const FOLDER = join(CODE, '../.dev')
const LAST_GOOD = join(FOLDER, 'openapi.yaml')
const TYPES = join(FOLDER, 'tsconfig.json')
/** Checks the types of the service, without the tests, and only the changed ones. */
const TYPES_OF_SERVICE = {
  extends: '../tsconfig.json',
  compilerOptions: { incremental: true, tsBuildInfoFile: 'types.json', pretty: false },
  include: [CODE],
}

/** The programs that check the contract and the code, in this order: their subject, their arguments, and their output. */
const CHECKS = [
  { name: 'contract', words: [join(CODE, 'generate.ts')], output: 'stderr' },
  {
    name: 'openapi.yaml',
    words: [join(CODE, 'lint.ts'), 'openapi.yaml', '--format=stylish'],
    output: 'stdout',
  },
  { name: 'types', words: [TSC, '-p', TYPES], output: 'stdout' },
] as const

/** Runs the command, or the service. @param load imports the product */
export async function dev(load: () => Promise<{ product: Product }>): Promise<void> {
  if (process.argv[2] === SERVICE) return serve(load)
  return runCommand(USAGE, async (words) => {
    const { values } = readWords(words, [], { examples: { type: 'boolean' } })
    return followChanges(values.examples === true ? [SERVICE, EXAMPLES] : [SERVICE])
  })
}

/** The first process: starts the service again after changes. @param words the arguments of the second process */
async function followChanges(words: readonly string[]): Promise<never> {
  let checks = new AbortController()
  process.once('exit', () => checks.abort())
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit())
  mkdirSync(FOLDER, { recursive: true })
  const folders = new Set<string>()
  const said = new Map<string, string>()
  for (;;) {
    writeFileSync(TYPES, JSON.stringify(TYPES_OF_SERVICE))
    const started = statSync(TYPES).ctimeMs // by the clock of the file system
    const { signal } = (checks = new AbortController())
    const service = fork(PROGRAM, words).on('message', (message) => {
      for (const folder of message as string[]) folders.add(folder) // only `readLatest` sends messages
      void runChecks(said, signal)
    })
    while (!isChanged(started, folders)) await delay(100)
    checks.abort()
    if (service.kill('SIGKILL')) await once(service, 'exit') // a regular stop would take longer
  }
}

/** Whether code, or a document in one of these folders, has been written since. Generated types don't count. */
function isChanged(since: number, folders: Iterable<string>): boolean {
  const files = (cwd: string, pattern: string) =>
    globSync(pattern, { cwd }).map((name) => join(cwd, name))
  const documents = [...folders].flatMap((folder) => files(folder, '*.{yaml,yml,json}'))
  return [...files(CODE, '**/!(*.gen).ts'), ...documents].some((file) => {
    const { ctimeMs = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {}
    return ctimeMs > since
  })
}

/** Writes the types, and prints the lines of `npm run check`, except the lines of the last time. */
async function runChecks(said: Map<string, string>, signal: AbortSignal): Promise<void> {
  for (const { name, words, output } of CHECKS) {
    const { text, isFailed } = await runProgram(words, output, signal)
    if (signal.aborted) return
    const isNew = text !== (said.get(name) ?? '')
    if (isNew) printError((text || `${name}: nothing is left to fix`).split(/\r?\n/))
    said.set(name, text)
    if (isFailed && name === 'contract') return // the other checks would report the same errors
  }
}

/** Runs a program to its end. */
function runProgram(words: readonly string[], output: 'stdout' | 'stderr', signal: AbortSignal) {
  return new Promise<{ text: string; isFailed: boolean }>((resolve) => {
    execFile(process.execPath, words, { signal }, (error, stdout, stderr) => {
      const text = output === 'stdout' ? stdout : stderr
      resolve({ text: text.trimEnd(), isFailed: error !== null })
    })
  })
}

/** The second process: the service. */
async function serve(load: () => Promise<{ product: Product }>): Promise<void> {
  enableCompileCache(join(FOLDER, 'cache'))
  process.once('disconnect', () => process.exit())
  const { product } = await load() // before the log is opened, so that Node prints the place of an error in the code
  await runService(product, {
    readDraft: ({ BASE_URL }, hooks) => readLatest(product, hooks, BASE_URL),
  })
}

/**
 * Reads the contract, without the operations with errors. If no operation can be served, the last good contract is served,
 * if it has the same title: another title means another contract.
 */
async function readLatest(
  product: Product,
  hooks: ProductHooks,
  baseUrl: string,
): Promise<Contract | undefined> {
  const { readDraft, UnreadableDocument } = await import('./draft.ts')
  const file = fileURLToPath(product.contract.file)
  let unread: readonly string[] = []
  // `npm run generate`, one of the checks, says why a document can't be read.
  const read = (path: string) =>
    readDraft(path, baseUrl, hooks, process.argv[3] === EXAMPLES).catch((error: unknown) => {
      if (error instanceof UnreadableDocument) unread = error.files
      return undefined
    })
  const draft = await read(file)
  const files = [file, ...(draft?.files ?? unread)]
  process.send?.(files.map((path) => dirname(path)))
  if (draft?.contract) {
    writeFileSync(LAST_GOOD, draft.contract.bytes)
    return draft.contract
  }
  const last = await read(LAST_GOOD)
  return draft === undefined || draft.title === last?.title ? last?.contract : undefined
}
