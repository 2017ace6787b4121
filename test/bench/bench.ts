// `npm run bench`: this service beside others, in one run. It takes about ten minutes, and two cores.
//   --quick   a look that takes a minute, and is not recorded
//   --check   nothing is recorded either: what got worse than recorded is named, and the exit code is 1
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { parseArgs } from 'node:util'
import fastify from 'fastify/package.json' with { type: 'json' }
import { startPostgres } from '../postgres.ts'
import { type Case, casesOf, Invalid, type LongList, measure, measureLongList, type Sample } from './cases.ts'
import { listOf, type Sizes } from './data.ts'
import { chooseTool } from './load.ts'
import * as report from './report.ts'
import { isPinned, pinLoad, type Running, start } from './running.ts'
import { BARE, prepareServers, type Server } from './servers.ts'

const { check, quick } = parseArgs({ options: { check: { type: 'boolean' }, quick: { type: 'boolean' } } }).values
const REPETITIONS = quick ? 1 : 5
const SECONDS = 1
const SIZES: Sizes = { small: 10_000, large: quick ? 100_000 : 1_000_000, creator: 0, deleter: 100_000 * REPETITIONS }

const tool = chooseTool()
const folder = mkdtempSync(`${tmpdir()}/plants-bench-`)
const running: Running[] = []
process.on('exit', () => rmSync(folder, { recursive: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))
const ends: (() => unknown)[] = []
try {
  const results = await bench()
  if (check) {
    const worse = report.decay(report.recorded(), results)
    for (const line of worse) console.error(`worse: ${line}`)
    process.exitCode = worse.length > 0 ? 1 : 0
  } else if (!quick) report.record(results)
} catch (error) {
  if (!(error instanceof Invalid)) throw error
  console.error(`invalid: ${error.message}`)
  process.exitCode = 1
} finally {
  for (const server of running) await server.stop()
  for (const end of ends) await end()
}

async function bench(): Promise<report.Results> {
  const postgres = await startPostgres({ teardown: (end) => void ends.push(end) })
  const [version] = await postgres.sql('SHOW server_version')
  const about = {
    date: new Date().toISOString(),
    machine: report.machine(),
    versions: {
      Node: process.versions.node,
      Fastify: fastify.version,
      SQLite: String(process.versions['sqlite']),
      PostgreSQL: String(version?.['server_version']),
    },
    load: `load from ${tool.name}, ${isPinned ? 'on one core, the server on another' : 'on the same cores'}`,
  }
  console.log(about)
  const servers = await prepareServers(folder, postgres, SIZES)
  pinLoad()
  for (const server of servers) running.push(await start(server, folder))
  const memories = new Map(running.map((server) => [server.name, server.memory()]))

  const cases: Record<string, Record<string, report.Figures>> = {}
  const all = casesOf(SIZES)
  for (const each of all) {
    for (const connections of [1, 32]) {
      const name = `${each.name}, ${connections} ${connections === 1 ? 'connection' : 'connections'}`
      console.log(`\n${name}`)
      cases[name] = await compare(each, connections)
      for (const [server, figures] of Object.entries(cases[name])) console.log(report.lineOf(server, figures))
    }
  }
  const longList = await longLists(all)
  const afterRun = new Map(running.map((server) => [server.name, server.memory()]))
  for (const server of running.splice(0)) await server.stop()
  const starts = await coldStarts(servers)
  const processes = Object.fromEntries(
    servers.map(({ name }) => [
      name,
      {
        coldStart: starts.get(name) ?? NaN,
        memoryAfterStart: memories.get(name) ?? NaN,
        memoryAfterRun: afterRun.get(name) ?? NaN,
      },
    ]),
  )
  const results = { ...about, cases, processes, longList }
  console.log(`\n${report.tables(results)}`)
  return results
}

/** Measures a case on all servers in turn, again and again. The first time is to warm up. */
async function compare(each: Case, connections: number): Promise<Record<string, report.Figures>> {
  const samples = new Map<Running, Sample[]>(running.map((server) => [server, []]))
  for (let round = 0; round <= REPETITIONS; round++) {
    for (const [server, of] of samples) {
      const sample = await measure(server, each, connections, SECONDS, tool.run)
      if (round > 0) of.push(sample)
    }
  }
  const medians = [...samples].map(([{ name }, of]) => [name, report.medianOf(of)] as const)
  const bare = Object.fromEntries(medians)[BARE]
  if (bare === undefined) throw new Error(`${BARE} is not there`)
  return Object.fromEntries(medians.map(([name, sample]) => [name, report.compared(sample, bare)]))
}

/** Measures the longest list of each server that has one. */
async function longLists([meanwhile]: Case[]): Promise<Record<string, LongList>> {
  const length = Buffer.byteLength(listOf(SIZES.large))
  const lists: Record<string, LongList> = {}
  for (const server of running) {
    if (server.name === BARE || meanwhile === undefined) continue
    lists[server.name] = await measureLongList(server, meanwhile, 2, length, tool.run)
  }
  return lists
}

/** The median time of each server's cold start, started in turn. */
async function coldStarts(servers: readonly Server[]): Promise<Map<string, number>> {
  const times = new Map(servers.map(({ name }) => [name, [] as number[]]))
  for (let round = 0; round < REPETITIONS; round++) {
    for (const server of servers) {
      const process = await start(server, folder)
      times.get(server.name)?.push(process.started)
      await process.stop()
    }
  }
  return new Map([...times].map(([name, each]) => [name, report.median(each)]))
}
