// `npm run bench`: this service beside others, in one run. It takes about eight minutes, and two cores.
// With --check [commit]: this service beside itself at a commit, by default the recorded one; what got worse is named, and the
// exit code is then 1.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { parseArgs } from 'node:util'
import fastify from 'fastify/package.json' with { type: 'json' }
import { type Server as Postgres, startPostgres } from '../support/postgres.ts'
import { Invalid } from './cases.ts'
import { check } from './check.ts'
import { machine, mediansOf, publish, recorded, type Results, tables } from './report.ts'
import { measureRounds, SMALL } from './rounds.ts'
import { isPinned, pinLoad } from './running.ts'
import { bareFastify, serviceOn, straightforward } from './servers.ts'

const ROUNDS = 7
/** More than the service keeps in a cache. */
const MANY = 100_000

const { values, positionals } = parseArgs({ options: { check: { type: 'boolean' } }, allowPositionals: true })
if (!values.check && git('status', '--porcelain', 'service', 'openapi.yaml', 'package-lock.json') !== '') {
  throw new Error('commit first: the run is recorded with the commit that it measures')
}

const folder = mkdtempSync(`${tmpdir()}/plants-bench-`)
process.on('exit', () => rmSync(folder, { recursive: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))
const ends: (() => unknown)[] = []
try {
  const postgres = await startPostgres({ teardown: (end) => void ends.push(end) })
  if (values.check) {
    pinLoad()
    const worse = await check(positionals[0] ?? recorded().commit, folder, postgres)
    for (const line of worse) console.error(`worse: ${line}`)
    process.exitCode = worse.length > 0 ? 1 : 0
  } else publish(await bench(postgres))
} catch (error) {
  if (!(error instanceof Invalid)) throw error
  console.error(`invalid: ${error.message}`)
  process.exitCode = 1
} finally {
  for (const end of ends) await end()
}

async function bench(postgres: Postgres): Promise<Results> {
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
    bareFastify(folder, SMALL, MANY),
    await serviceOn('this service, SQLite', `sqlite:${folder}/service.db`, folder, MANY),
    straightforward(`${folder}/straightforward.db`, MANY),
    await serviceOn('this service, PostgreSQL', await postgres.createDatabase(), folder, MANY),
  ]
  pinLoad()
  const results = { ...about, ...mediansOf(await measureRounds(servers, ROUNDS, MANY, folder)) }
  console.log(tables(results))
  return results
}

function git(...words: string[]): string {
  return execFileSync('git', words, { encoding: 'utf8' }).trim()
}
