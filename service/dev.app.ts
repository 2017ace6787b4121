// The service while its contract is being written: it serves what was good last, and answers 501 where a method is missing.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, watch } from 'node:fs'
import { copyFile, mkdir, readFile } from 'node:fs/promises'
import { flushCompileCache } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { buildApp, CONTRACT } from './app.ts'
import { readConfig } from './config.ts'
import { reasonOf, StartupError } from './errors.ts'
import { listen } from './http/server.ts'
import { openStore } from './store/open.ts'
import { printDemoToken } from './auth/issue.ts'

const GENERATE = fileURLToPath(import.meta.resolve('./generate.ts'))
const LINT = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'))
const LAST_GOOD = fileURLToPath(import.meta.resolve('../.dev/openapi.yaml'))
await mkdir(dirname(LAST_GOOD), { recursive: true })
process.once('disconnect', () => process.exit())
process.on('uncaughtException', (error) => {
  console.error(error instanceof StartupError ? error.message : error)
  process.exit(1)
})

const config = readConfig()
const log = pino({ level: config.LOG_LEVEL })
const store = await openStore(config.DATABASE_URL, true, config)
let app: FastifyInstance | undefined
let generating: ChildProcess | undefined
let seen = ''

let turn = begin()
const follow = setTimeout(() => {
  turn = turn.then(async () => {
    if ((await readContractText()) !== seen) await serve(CONTRACT)
  })
}, 50) // Editors write a file in several steps.
watch(dirname(CONTRACT), () => follow.refresh())

async function begin(): Promise<void> {
  if (!(await serve(CONTRACT)) && existsSync(LAST_GOOD)) await serve(LAST_GOOD)
  if (app !== undefined && 'file' in config.DATABASE_URL) await printDemoToken(store, app.listeningOrigin)
  flushCompileCache() // which would wait for the end, and that will be a signal
}

async function readContractText(): Promise<string> {
  return readFile(CONTRACT, 'utf8').catch(() => '')
}

/**
 * Serves a contract in the place of the one before.
 * @returns false, with the reason printed, if it is broken
 * @throws {StartupError} if the port can't be had
 */
async function serve(contract: string): Promise<boolean> {
  seen = await readContractText()
  const next = await buildApp({ config, store, log, contract, draft: true }).catch((error: unknown) => {
    console.error(reasonOf(error))
    return undefined
  })
  if (next === undefined) {
    // It shows the place of what is no OpenAPI; it does not know what else the service refuses.
    execFile(process.execPath, [LINT, 'lint', contract, '--format=stylish'], (fault, stdout) => {
      if (fault !== null) console.error(stdout)
    })
    return false
  }
  app?.server.closeAllConnections()
  await app?.close()
  app = next
  await listen(app, config.HOST, config.PORT, 'PORT')
  if (contract === CONTRACT) {
    await copyFile(CONTRACT, LAST_GOOD)
    generating?.kill() // It may have read the contract before.
    generating = spawn(process.execPath, [GENERATE], { stdio: 'inherit' })
  }
  return true
}
