import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Server as Postgres } from '../support/postgres.ts'
import { casesOf, measure, type Sample } from './cases.ts'
import { plantOf, type Sizes } from './data.ts'
import { median } from './results.ts'
import { type Running, start } from './running.ts'
import { countIn, type Server } from './servers.ts'

/** In each round both versions start again: some starts are faster than others, for as long as they run. */
const ROUNDS = 14
/**
 * A figure got worse if it is worse in this many rounds. By chance, unchanged code does that in 15 of 16,384 cases: of 34
 * figures one does in 3 of 100 checks.
 */
const WORSE_ROUNDS = 13
/** How long plants to delete are created before. In each round two seconds of deletes need some. */
const FILLING_SECONDS = 42
const SIZES: Sizes = { small: 10_000, large: 0, creator: 0, deleter: 0, many: 0 }

const [list, , , create, remove, whole] = casesOf(SIZES)

/** For each figure, its ratio to the figure before in each round. More is better. */
type Gains = Map<string, number[]>

/**
 * Measures this service as it was at a commit and as it is now, in turn.
 * @param folder for their files
 * @returns what got worse, a line each; prints the other figures, too
 */
export async function check(commit: string, folder: string, postgres: Postgres): Promise<string[]> {
  const before = checkOut(commit, `${folder}/before`)
  const gains: Gains = new Map()
  for (const engine of ['SQLite', 'PostgreSQL']) {
    const servers = []
    for (const [name, root] of Object.entries({ before, now: process.cwd() })) {
      const url = engine === 'SQLite' ? `sqlite:${folder}/${name}.db` : await postgres.createDatabase()
      servers.push(await prepare(`${engine}, ${name}`, root, url, folder))
    }
    for (let round = 0; round < ROUNDS; round++) await compare(engine, servers, round, folder, gains)
  }
  const judged = judge(gains)
  for (const { line } of judged) console.log(line)
  return judged.filter(({ isWorse }) => isWorse).map(({ line }) => line)
}

/** Puts the files of a commit, and its packages, into a new folder. @returns the folder */
function checkOut(commit: string, folder: string): string {
  mkdirSync(folder)
  execFileSync('sh', ['-c', 'git archive "$0" | tar -x -C "$1"', commit, folder])
  const hasSamePackages =
    readFileSync(`${folder}/package-lock.json`, 'utf8') === readFileSync('package-lock.json', 'utf8')
  if (hasSamePackages) symlinkSync(resolve('node_modules'), `${folder}/node_modules`)
  else execFileSync('npm', ['ci', '--silent'], { cwd: folder })
  return folder
}

/** Fills an empty database by the commands and the API of a version, which change less than its code. */
async function prepare(name: string, root: string, url: string, folder: string): Promise<Server> {
  const environment = { NODE_ENV: 'production', ADMIN_PORT: '0', DRAIN_DELAY: '0', DATABASE_URL: url }
  // Older versions have no product for tests.
  const programs = ['test/support/product', 'service'].find((each) => existsSync(`${root}/${each}/main.ts`)) ?? ''
  const issue = (caller: string) => {
    const words = [`${programs}/token.ts`, 'issue', caller]
    const env = { ...process.env, DATABASE_URL: url }
    return execFileSync(process.execPath, words, {
      cwd: root,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  }
  const tokens = { small: issue('small'), creator: issue('creator'), deleter: issue('deleter'), large: '', many: '' }
  const count = (caller: string) => countIn(url, caller)
  const server = { name, folder: root, program: `${programs}/main.ts`, environment, tokens, count }
  const filling = await start(server, folder)
  for (let id = 1; id <= SIZES.small; id += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, index) => createPlant(filling, id + index)))
  }
  await measure(filling, { ...create, caller: 'deleter', seconds: FILLING_SECONDS }, 32)
  await filling.stop()
  return server
}

async function createPlant(running: Running, id: number): Promise<void> {
  const { port, tokens } = running
  const headers = { authorization: `Bearer ${tokens.small}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ id, ...plantOf(id) })
  const response = await fetch(`http://127.0.0.1:${port}/plants`, { method: 'POST', headers, body })
  const answer = await response.text()
  if (response.status === 503) return createPlant(running, id) // it was too busy
  if (response.status !== 200) throw new Error(answer)
}

/** Starts both versions, warms them up, and measures each case on one and then on the other. */
async function compare(engine: string, servers: readonly Server[], round: number, folder: string, gains: Gains) {
  // Each version is the first one in every second round.
  const inTurn = <Each>(pair: readonly Each[]) => (round % 2 === 0 ? pair : pair.toReversed())
  const add = (figure: string, gain: number) => {
    gains.set(figure, [...(gains.get(figure) ?? []), gain])
    return gain
  }
  const running: Running[] = []
  try {
    for (const server of inTurn(servers)) running.push(await start(server, folder))
    const [old, now] = inTurn(running)
    if (old === undefined || now === undefined) throw new Error('two versions are compared')
    add(`${engine}, cold start`, old.started / now.started)
    for (const server of running) {
      for (const each of [list, create]) await measure(server, each, 32)
    }
    const [rates, times]: [number[], number[]] = [[], []]
    for (const each of [list, create, remove, whole]) {
      for (const connections of each.connections) {
        const samples: Sample[] = []
        for (const server of running) samples.push(await measure(server, each, connections))
        const [before, after] = inTurn(samples)
        const name = `${engine}, ${each.name}, ${connections} connections`
        rates.push(add(`${name}: requests per second`, Number(after?.rate) / Number(before?.rate)))
        times.push(add(`${name}: requests per processor time`, Number(before?.cpu) / Number(after?.cpu)))
      }
    }
    // The means of all cases have less noise: they show what is paid for every request.
    add(`${engine}, mean of all: requests per second`, mean(rates))
    add(`${engine}, mean of all: requests per processor time`, mean(times))
  } finally {
    for (const server of running) await server.stop()
  }
}

/** The geometric mean. */
function mean(ratios: readonly number[]): number {
  return ratios.reduce((product, each) => product * each, 1) ** (1 / ratios.length)
}

/** What became of each figure, a line each. @returns also whether it got worse */
export function judge(gains: Gains): { line: string; isWorse: boolean }[] {
  return [...gains].map(([figure, ratios]) => {
    const worse = ratios.filter((ratio) => ratio < 1).length
    const line = `${figure}: ${median(ratios).toFixed(2)} of before (worse in ${worse} of ${ratios.length} rounds)`
    return { line, isWorse: worse >= WORSE_ROUNDS }
  })
}
