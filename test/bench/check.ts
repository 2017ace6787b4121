import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Server as Postgres } from '../support/postgres.ts'
import { measureRounds, median, type Round } from './rounds.ts'
import { serviceOn } from './servers.ts'

const ROUNDS = 14
/**
 * A figure got worse if it is worse in this many rounds. By chance, unchanged code does that in 15 of 16,384 cases: of 34
 * figures one does in 3 of 100 checks.
 */
const WORSE_ROUNDS = 13

/**
 * Measures this service as it was at a commit and as it is now, in turn.
 * @param folder for their files
 * @returns what got worse, a line each; prints the other figures, too
 */
export async function check(commit: string, folder: string, postgres: Postgres): Promise<string[]> {
  const before = checkOut(commit, `${folder}/before`)
  const worse: string[] = []
  for (const engine of ['SQLite', 'PostgreSQL']) {
    const servers = []
    for (const [name, root] of Object.entries({ before, now: process.cwd() })) {
      const url = engine === 'SQLite' ? `sqlite:${folder}/${name}.db` : await postgres.createDatabase()
      servers.push(await serviceOn(name, url, folder, 0, root))
    }
    for (const [figure, { line, isWorse }] of judge(await measureRounds(servers, ROUNDS, 0, folder))) {
      console.log(`${engine}, ${figure}: ${line}`)
      if (isWorse) worse.push(`${engine}, ${figure}: ${line}`)
    }
  }
  return worse
}

/** Puts the files of a commit, and its packages, into a new folder. @returns the folder */
function checkOut(commit: string, folder: string): string {
  mkdirSync(folder)
  execFileSync('sh', ['-c', 'git archive "$0" | tar -x -C "$1"', commit, folder])
  const [now, before] = ['.', folder].map((each) => readFileSync(`${each}/package-lock.json`, 'utf8'))
  if (now === before) symlinkSync(resolve('node_modules'), `${folder}/node_modules`)
  else execFileSync('npm', ['ci', '--silent'], { cwd: folder })
  return folder
}

/** What became of each figure, by its name. More is better. */
export function judge(rounds: readonly Record<string, Round>[]): Map<string, { line: string; isWorse: boolean }> {
  const gains = rounds.flatMap(({ before, now }) => (before && now ? [gainsOf(before, now)] : []))
  return new Map(
    Object.keys(gains[0] ?? {}).map((figure) => {
      const ratios = gains.map((each) => each[figure] ?? NaN)
      const worse = ratios.filter((ratio) => ratio < 1).length
      const line = `${median(ratios).toFixed(2)} of before (worse in ${worse} of ${ratios.length} rounds)`
      return [figure, { line, isWorse: worse >= WORSE_ROUNDS }]
    }),
  )
}

function gainsOf(before: Round, now: Round): Record<string, number> {
  const ofCases = Object.entries(before.samples).flatMap(([name, old]) => {
    const { rate = NaN, cpu = NaN } = now.samples[name] ?? {}
    return [
      [`${name}: requests per second`, rate / old.rate],
      [`${name}: requests per processor time`, old.cpu / cpu],
    ] as const
  })
  return Object.fromEntries([['cold start', before.coldStart / now.coldStart], ...ofCases])
}
