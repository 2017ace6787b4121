// `npm run dev`: runs the service for development. The first process watches the code, and after each change it restarts
// the second process, which is the service. That one watches the contract, and serves each change without a restart,
// because this is faster.
import { type ChildProcess, execFile, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, watch } from 'node:fs'
import { copyFile, mkdir } from 'node:fs/promises'
import { enableCompileCache } from 'node:module'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Parts } from './app.ts'
import { readWords, runCommand } from './command.ts'
import { reasonOf } from './errors.ts'
import type { Running } from './main.ts'

const USAGE = 'usage: dev   runs the service, which follows its contract and its code while they change'
const SERVICE = 'service'
const GENERATE = fileURLToPath(import.meta.resolve('./generate.ts'))
const LINT = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'))
const CACHE = fileURLToPath(import.meta.resolve('../.dev/cache'))
const LAST_GOOD = fileURLToPath(import.meta.resolve('../.dev/openapi.yaml'))
/** Milliseconds to wait for further changes: editors write a file in several steps. */
const DEBOUNCE_TIMEOUT = 50

if (process.argv[2] === SERVICE) {
  enableCompileCache(CACHE)
  process.once('disconnect', () => process.exit())
  await import('./app.ts') // before main.ts, so that Node prints the place of a fault in the code
  await (await import('./main.ts')).runService(serveContract)
} else {
  await runCommand(USAGE, async (words) => {
    readWords(words, [], {})
    serveCode()
  })
}

function serveCode(): void {
  let service: ChildProcess | undefined
  const start = async () => {
    if (service?.kill('SIGKILL') === true) await once(service, 'exit') // a regular stop would take longer
    service = fork(import.meta.filename, [SERVICE])
  }
  // Generated types have no effect at run time.
  watchFiles(import.meta.dirname, (file) => file.endsWith('.ts') && !file.endsWith('.gen.ts'), start, start())
}

/** Serves the contract, and reloads it after changes. A broken one is not served: the last good one stays. */
async function serveContract(parts: Parts): Promise<Running> {
  const { buildApp, CONTRACT } = await import('./app.ts')
  const { listen } = await import('./http/server.ts')
  await mkdir(dirname(LAST_GOOD), { recursive: true })
  const running: Running = {}
  let generating: ChildProcess | undefined

  /** @returns whether the contract is good */
  const serve = async (contract: string): Promise<boolean> => {
    const next = await buildApp({ ...parts, contract, draft: true }).catch((error: unknown) => {
      parts.log.error(reasonOf(error))
      // The linter prints the place of a fault in OpenAPI. It does not know what else the service refuses.
      execFile(process.execPath, [LINT, 'lint', contract, '--format=stylish'], (fault, stdout) => {
        if (fault !== null) console.error(stdout)
      })
    })
    if (next === undefined) return false
    running.app?.server.closeAllConnections()
    await running.app?.close()
    running.app = next
    await listen(next, parts.config.HOST, parts.config.PORT, 'PORT')
    return true
  }
  const update = async (): Promise<boolean> => {
    if (!(await serve(CONTRACT))) return false
    await copyFile(CONTRACT, LAST_GOOD)
    generating?.kill() // It may have read the previous contract.
    generating = spawn(process.execPath, [GENERATE], { stdio: 'inherit' })
    return true
  }

  const started = update().then((isGood) => isGood || (existsSync(LAST_GOOD) && serve(LAST_GOOD)))
  watchFiles(dirname(CONTRACT), (file) => file === basename(CONTRACT), update, started)
  await started
  return running
}

/** Runs a task after each change of some files in a folder. @param previous must end before the task begins */
function watchFiles(
  folder: string,
  isWatched: (file: string) => boolean,
  task: () => Promise<unknown>,
  previous: Promise<unknown>,
): void {
  let timer: NodeJS.Timeout | undefined
  watch(folder, { recursive: folder === import.meta.dirname }, (_event, file) => {
    if (file === null || !isWatched(file)) return
    clearTimeout(timer)
    timer = setTimeout(() => (previous = previous.then(task)), DEBOUNCE_TIMEOUT)
  })
}
