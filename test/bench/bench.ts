// `npm run bench`: this service beside others, in one run. It takes about twelve minutes, and two cores.
// With --check [commit]: this service beside itself at a commit, by default the recorded one; what got worse is named, and the
// exit code is then 1.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { parseArgs } from 'node:util'
import fastify from 'fastify/package.json' with { type: 'json' }
import { type Server as Postgres, startPostgres } from '../support/postgres.ts'
import { type Case, casesOf, Invalid, type LongList, measure, measureLongList, type Sample } from './cases.ts'
import { check } from './check.ts'
import { listOf, type Sizes } from './data.ts'
import { lineOf, machine, publish, tables } from './report.ts'
import { compared, type Figures, median, record, recorded, type Results } from './results.ts'
import { isPinned, pinLoad, type Running, start } from './running.ts'
import { prepareServers, type Server } from './servers.ts'

const { values, positionals } = parseArgs({ options: { check: { type: 'boolean' } }, allowPositionals: true })
if (!values.check && git('status', '--porcelain', 'service', 'openapi.yaml', 'package-lock.json') !== '') {
  throw new Error('commit first: the run is recorded with the commit that it measures')
}
const REPETITIONS = 7
const SIZES: Sizes = {
  small: 10_000,
  large: 1_000_000,
  creator: 0,
  deleter: 80_000 * (2 + REPETITIONS), // more than a server deletes in a second
  many: 100_000,
}

const cases = casesOf(SIZES)
const [list] = cases
const folder = mkdtempSync(`${tmpdir()}/plants-bench-`)
const running: Running[] = []
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
  } else {
    const results = await bench(postgres)
    record(results)
    publish(results)
  }
} catch (error) {
  if (!(error instanceof Invalid)) throw error
  console.error(`invalid: ${error.message}`)
  process.exitCode = 1
} finally {
  for (const server of running) await server.stop()
  for (const end of ends) await end()
}

async function bench(postgres: Postgres): Promise<Results> {
  const about = await setting(postgres)
  console.log(about)
  const servers = await prepareServers(folder, postgres, SIZES)
  pinLoad()
  for (const server of servers) running.push(await start(server, folder))

  const cases = await measureAll()
  const memoryAfterRun = running.map((server) => server.memory())

  for (const server of running.splice(0)) await server.stop()
  const longList = await longLists(servers)
  const starts = await coldStarts(servers)
  const processes = servers.map(({ name }, index) => [
    name,
    {
      coldStart: median(starts.map((each) => Number(each[index]?.started))),
      memoryAfterStart: median(starts.map((each) => Number(each[index]?.memory))),
      memoryAfterRun: Number(memoryAfterRun[index]),
    },
  ])
  const results = { ...about, cases, longList, processes: Object.fromEntries(processes) }
  console.log(`\n${tables(results)}`)
  return results
}

/** When, where and with what is measured. */
async function setting(postgres: Postgres) {
  const [row] = await postgres.sql('SHOW server_version')
  return {
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
}

async function measureAll(): Promise<Results['cases']> {
  const figures: Record<string, Record<string, Figures>> = {}
  for (const each of cases) {
    for (const connections of each.connections) {
      const name = `${each.name}, ${connections} ${connections === 1 ? 'connection' : 'connections'}`
      console.log(`\n${name}`)
      const by = await compare(each, connections)
      for (const [server, figures] of Object.entries(by)) console.log(lineOf(server, figures))
      figures[name] = by
    }
  }
  return figures
}

/** Measures a case on all servers in turn, again and again. The first time is to warm up, and longer. */
async function compare(each: Case, connections: number): Promise<Record<string, Figures>> {
  const samples = new Map<Running, Sample[]>(running.map((server) => [server, []]))
  for (let round = 0; round <= REPETITIONS; round++) {
    for (const [server, of] of samples) {
      const seconds = round === 0 ? 2 * each.seconds : each.seconds
      const sample = await measure(server, { ...each, seconds }, connections)
      if (round > 0) of.push(sample)
    }
  }
  const [[, bare] = ['', []]] = samples
  return Object.fromEntries([...samples].map(([{ name }, of]) => [name, compared(of, bare)]))
}

/** Measures the longest list of each server that has one, on a new process: an old one has memory to spare. */
async function longLists(servers: readonly Server[]): Promise<Results['longList']> {
  const length = Buffer.byteLength(listOf(SIZES.large))
  const lists: Record<string, LongList> = {}
  for (const server of servers.filter(({ count }) => count !== undefined)) {
    const process = await start(server, folder)
    running.push(process)
    await measure(process, list, 1)
    lists[server.name] = await measureLongList(process, list, length)
    await running.pop()?.stop()
  }
  return lists
}

/** Starts the servers in turn, again and again. All were started before, so that they are compiled. */
async function coldStarts(servers: readonly Server[]) {
  const starts: { started: number; memory: number }[][] = []
  for (let round = 0; round < REPETITIONS; round++) {
    const each = []
    for (const server of servers) {
      const { started, memory, stop } = await start(server, folder)
      each.push({ started, memory: memory() })
      await stop()
    }
    starts.push(each)
  }
  return starts
}

function git(...words: string[]): string {
  return execFileSync('git', words, { encoding: 'utf8' }).trim()
}
