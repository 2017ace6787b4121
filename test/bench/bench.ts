// `npm run bench`: this service beside others, in one run. It takes about eight minutes, and two cores.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import fastify from 'fastify/package.json' with { type: 'json' }
import { startPostgres } from '../support/postgres.ts'
import { casesOf, Invalid, measure, type Sample } from './cases.ts'
import { machine, mediansOf, publish, type Round, tables } from './report.ts'
import { bareFastify, isPinned, type Running, type Server, serviceOnPostgres, serviceOnSqlite } from './servers.ts'
import { start, straightforward } from './servers.ts'

const ROUNDS = 7
const CONNECTIONS = [1, 32]
/** Many are more than the service keeps in a cache. */
const SIZES = { small: 10_000, many: 100_000 }
const cases = casesOf(SIZES.small, SIZES.many)

if (git('status', '--porcelain', 'service', 'openapi.yaml', 'package-lock.json') !== '') {
  throw new Error('commit first: the run is recorded with the commit that it measures')
}

const folder = mkdtempSync(`${tmpdir()}/plants-bench-`)
process.on('exit', () => rmSync(folder, { recursive: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))
const ends: (() => unknown)[] = []
try {
  const postgres = await startPostgres({ teardown: (end) => void ends.push(end) })
  const [row] = await postgres.sql('SHOW server_version')
  const about = {
    date: new Date().toISOString(),
    commit: git('rev-parse', 'HEAD'),
    machine: machine(),
    versions: {
      Node: process.versions.node,
      Fastify: fastify.version,
      SQLite: String(process.versions['sqlite']),
      PostgreSQL: String(row?.['server_version']),
    },
    load: `load from the bench itself, ${isPinned ? 'on one core, the server on another' : 'on the same cores'}`,
  }
  const servers = [
    bareFastify(SIZES),
    await serviceOnSqlite(`${folder}/service.db`, SIZES),
    straightforward(`${folder}/straightforward.db`, SIZES),
    await serviceOnPostgres(postgres, SIZES),
  ]
  if (isPinned) spawnSync('taskset', ['-acp', '1', String(process.pid)])
  const results = { ...about, ...mediansOf(await measureRounds(servers)) }
  console.log(tables(results))
  publish(results)
} catch (error) {
  if (!(error instanceof Invalid)) throw error
  console.error(`invalid: ${error.message}`)
  process.exitCode = 1
} finally {
  for (const end of ends) await end()
}

/**
 * Measures servers in turn, again and again. In each round all start again: some starts are faster than others, for as
 * long as they run. Each server is the first one in every second round.
 * @returns what each server did, by round
 */
function measureRounds(servers: readonly Server[]): Promise<Record<string, Round>[]> {
  return Array.fromAsync({ length: ROUNDS }, async (_, round) => {
    const running: Running[] = []
    try {
      for (const server of round % 2 === 0 ? servers : servers.toReversed()) running.push(await start(server, folder))
      const states = running.map((server) => {
        const samples: Record<string, Sample> = {}
        return { server, memory: server.memory(), samples }
      })
      // To get warm.
      for (const each of [cases.list, cases.create]) for (const server of running) await measure(server, each, 32)
      for (const each of Object.values(cases)) {
        for (const connections of CONNECTIONS) {
          const name = `${each.name}, ${connections} ${connections === 1 ? 'connection' : 'connections'}`
          for (const { server, samples } of states) samples[name] = await measure(server, each, connections)
        }
      }
      console.log(`round ${round + 1} of ${ROUNDS}`)
      return Object.fromEntries(
        states.map(({ server, memory, samples }) => [
          server.name,
          { samples, coldStart: server.started, memoryAfterStart: memory, memoryAfterRun: server.memory() },
        ]),
      )
    } finally {
      for (const server of running) await server.stop()
    }
  })
}

function git(...words: string[]): string {
  return execFileSync('git', words, { encoding: 'utf8' }).trim()
}
