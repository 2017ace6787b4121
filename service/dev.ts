// `npm run dev`: the service while its contract and its code are being written. One process follows the code, and starts
// the service in another one, anew after each change. That one follows the contract without a new start: it is faster.
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
/** Milliseconds: editors write a file in several steps. */
const SETTLING_TIME = 50

if (process.argv[2] === SERVICE) {
  enableCompileCache(CACHE)
  process.once('disconnect', () => process.exit())
  await import('./app.ts') // before main.ts: Node prints the place of a fault in the code
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
    if (service?.kill('SIGKILL') === true) await once(service, 'exit') // to stop in order takes longer
    service = fork(import.meta.filename, [SERVICE])
  }
  // The generated types mean nothing while it runs.
  follow(import.meta.dirname, (file) => file.endsWith('.ts') && !file.endsWith('.gen.ts'), start, start())
}

/** Serves the contract, and each change of it; the last good one while it is broken. Methods may be missing. */
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
      // The linter prints the place of what is no OpenAPI. It does not know what else the service refuses.
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
    generating?.kill() // It may have read the contract before.
    generating = spawn(process.execPath, [GENERATE], { stdio: 'inherit' })
    return true
  }

  const started = update().then((isGood) => isGood || (existsSync(LAST_GOOD) && serve(LAST_GOOD)))
  follow(dirname(CONTRACT), (file) => file === basename(CONTRACT), update, started)
  await started
  return running
}

/** Runs a task after each change of such files in a folder. @param begun what has to end before the first run */
function follow(
  folder: string,
  isFollowed: (file: string) => boolean,
  task: () => Promise<unknown>,
  begun: Promise<unknown>,
): void {
  let timer: NodeJS.Timeout | undefined
  watch(folder, { recursive: folder === import.meta.dirname }, (_event, file) => {
    if (file === null || !isFollowed(file)) return
    clearTimeout(timer)
    timer = setTimeout(() => (begun = begun.then(task)), SETTLING_TIME)
  })
}
