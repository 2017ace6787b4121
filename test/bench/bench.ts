// `npm run bench`: this service beside bare Fastify and a program written by hand, in one run. `-- --old <commit>` puts another version beside it, and
// `-- --short` is one round with fewer callers. Both only print their tables; the whole run writes them into the READMEs.
// `-- --profile <case>` prints in which layers the service spends its time.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import fastify from 'fastify/package.json' with { type: 'json' }
import { startPostgres } from '../support/postgres/server.ts'
import { memoryOf } from '../support/figures/process-usage.ts'
import { layersOf, readProfile } from './profile.ts'
import { type Figures, machine, published, type Round, tables } from './report.ts'
import {
  bareFastify,
  casesOf,
  isPinned,
  measure,
  type Running,
  serviceOn,
  start,
  tunedOn,
} from './servers.ts'

const { values } = parseArgs({
  options: {
    old: { type: 'string' },
    profile: { type: 'string' },
    short: { type: 'boolean', default: false },
  },
})
const { old, short, profile } = values
const isRecorded = old === undefined && profile === undefined && !short
/** Many are more than have their page in the cache of the service. */
const SIZES = { small: 10_000, many: short || profile !== undefined ? 1000 : 100_000 }
const CONNECTIONS = [1, 32, 256]
const WARM_CONNECTIONS = 8
const ROUNDS = short ? 1 : 5
const PROFILED_SECONDS = 5
const git = (...words: string[]) => execFileSync('git', words, { encoding: 'utf8' }).trim()
if (
  isRecorded &&
  git('status', '--porcelain', 'service', 'openapi.yaml', 'package-lock.json') !== ''
) {
  throw new Error('commit first: the run is recorded with the commit that it measures')
}

const folder = mkdtempSync(`${tmpdir()}/plants-bench-`)
/** Ends the started servers, the last one first. */
await using ends = new AsyncDisposableStack()
ends.defer(() => rmSync(folder, { recursive: true }))
const t = {
  teardown: (end: () => unknown) => ends.defer(() => Promise.resolve(end()).then(() => undefined)),
}
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => void ends.disposeAsync().finally(() => process.exit(1)))
if (profile !== undefined) {
  console.log(await profileCase(profile))
  await ends.disposeAsync()
  process.exit()
}
const postgres = await startPostgres(t)
const url = await postgres.createDatabase()
const [row] = await postgres.sql('SHOW server_version')
const versions =
  `Node ${process.versions.node}, Fastify ${fastify.version}, SQLite ${process.versions['sqlite']}, ` +
  `PostgreSQL ${String(row?.['server_version'])}; commit ${git('rev-parse', '--short', 'HEAD')}`
const where = isPinned ? 'on one core, the server on another' : 'on the same cores'
const about = `Measured by \`npm run bench\` on ${new Date().toISOString().slice(0, 10)}: ${machine()}; ${versions}`
const onSqlite = await serviceOn('this service, SQLite', `sqlite:${folder}/new.db`, SIZES)
const servers = [
  bareFastify(SIZES),
  tunedOn(onSqlite, `${folder}/tuned.db`),
  onSqlite,
  ...(old === undefined
    ? []
    : [await serviceOn(`${old}, SQLite`, `sqlite:${folder}/old.db`, SIZES, checkOut(old))]),
  await serviceOn('this service, PostgreSQL', url, SIZES),
]
await postgres.sql('VACUUM ANALYZE', url)
if (isPinned) spawnSync('taskset', ['-acp', '1', String(process.pid)])
const results = new Map(servers.map(({ name }): [string, Round[]] => [name, []]))
for (let round = 1; round <= ROUNDS; round++) {
  // Some starts are faster than others, for as long as they run. Each server is the first one in every second round.
  const order = round % 2 === 0 ? servers : servers.toReversed()
  const running = await Array.fromAsync(order, (kind) => start(t, kind, `${folder}/log`))
  for (const [{ name }, round] of await measureRound(running)) results.get(name)?.push(round)
  for (const server of running) await server.stop()
  console.error(`round ${round} of ${ROUNDS}`)
}
const report = `${about}; load from the bench itself, ${where}.\n\n${tables(results)}`
console.log(report)
if (isRecorded)
  for (const [file, text] of Object.entries(published(report))) writeFileSync(file, text)

/**
 * Profiles the service on SQLite while it answers requests of one kind on 32 connections for some seconds.
 * @param name the beginning of the name of a case
 * @returns a table of the layers
 */
async function profileCase(name: string): Promise<string> {
  const cases = casesOf(SIZES)
  const benchCase = cases.find((candidate) => candidate.name.startsWith(name))
  if (!benchCase) throw new Error(`the cases are: ${cases.map(({ name }) => name).join('; ')}`)
  const filled = await serviceOn('this service, SQLite', `sqlite:${folder}/new.db`, SIZES)
  const options = `--cpu-prof --cpu-prof-interval=200 --cpu-prof-dir=${folder}`
  const environment = { ...filled.environment, NODE_OPTIONS: options }
  const server = await start(t, { ...filled, environment }, `${folder}/log`)
  const create = cases.find(({ method }) => method === 'POST')
  for (let second = 0; second < PROFILED_SECONDS; second += 1) {
    if (create && benchCase.method === 'DELETE') await measure(server, create, 32) // there must be something to delete
    await measure(server, benchCase, 32)
  }
  await server.stop()
  return layersOf(readProfile(folder))
}

/** Measures servers in turn, case by case. @returns the figures of each server */
async function measureRound(running: readonly Running[]): Promise<Map<Running, Round>> {
  const cases = casesOf(SIZES)
  const rounds = new Map(running.map((server) => [server, new Map<string, Figures>()]))
  for (const [{ started, pid }, round] of rounds) {
    round.set('cold start to the first authorized answer', { started })
    round.set('memory after start', { memory: memoryOf(pid) })
  }
  // Each server gets warm by all kinds of requests: without creates before it, a delete finds nothing.
  for (const benchCase of cases)
    for (const server of running) await measure(server, benchCase, WARM_CONNECTIONS)
  for (const benchCase of cases) {
    for (const connections of CONNECTIONS) {
      const name = `${benchCase.name}, ${connections} ${connections === 1 ? 'connection' : 'connections'}`
      for (const [server, round] of rounds)
        round.set(name, await measure(server, benchCase, connections))
    }
  }
  for (const [{ pid }, round] of rounds)
    round.set('memory after the run', { memory: memoryOf(pid) })
  return rounds
}

/** Puts another version of the project into a new folder, with the packages of this version. */
function checkOut(commit: string): string {
  const path = `${folder}/old`
  git('worktree', 'add', '--detach', path, commit)
  t.teardown(() => git('worktree', 'remove', '--force', path))
  symlinkSync(resolve('node_modules'), `${path}/node_modules`)
  return path
}
