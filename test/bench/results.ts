import { readFileSync, writeFileSync } from 'node:fs'
import type { LongList, Sample } from './cases.ts'
import { BARE } from './servers.ts'

/** A sample, and each of its figures as a share of that of bare Fastify. */
export interface Figures extends Sample {
  readonly ratio: Sample
}

/** What is known of the process of a server. Times in milliseconds, memory in bytes. */
export interface Process {
  readonly coldStart: number
  readonly memoryAfterStart: number
  readonly memoryAfterRun: number
}

/** Figures by case, or by server. */
type By<Value> = Readonly<Record<string, Value>>

/** A whole run, as it is recorded. Every figure is a median over its repetitions. */
export interface Results {
  readonly date: string
  readonly machine: string
  readonly versions: By<string>
  /** What the load came from, and where it ran. */
  readonly load: string
  readonly cases: By<By<Figures>>
  readonly processes: By<Process>
  readonly longList: By<LongList>
}

const RECORD = 'test/bench/results.json'

/** What got worse by more than this share fails the check. */
const MOST_DECAY = 0.15

/** The figure in the middle. */
export function median(figures: readonly number[]): number {
  return figures.toSorted((one, two) => one - two)[Math.floor(figures.length / 2)] ?? NaN
}

/** The medians of samples, and those of their shares of what bare Fastify did in the same rounds. */
export function compared(samples: readonly Sample[], bare: readonly Sample[]): Figures {
  const each = (figure: (name: keyof Sample) => number): Sample => ({
    rate: figure('rate'),
    p50: figure('p50'),
    p99: figure('p99'),
    cpu: figure('cpu'),
  })
  return {
    ...each((name) => median(samples.map((sample) => sample[name]))),
    ratio: each((name) => median(samples.map((sample, round) => sample[name] / (bare[round]?.[name] ?? NaN)))),
  }
}

/** Records a run, for later ones to be compared with. */
export function record(results: Results): void {
  writeFileSync(RECORD, `${JSON.stringify(results, undefined, 2)}\n`)
}

/** The recorded run. */
export function recorded(): Results {
  return JSON.parse(readFileSync(RECORD, 'utf8')) as Results // as `record` wrote it
}

/** What of this service got worse in comparison with bare Fastify, a line each. */
export function decay(before: Results, now: Results): string[] {
  const ratios = ratiosOf(now)
  return [...ratiosOf(before)].flatMap(([name, { ratio: old, isGood }]) => {
    const ratio = ratios.get(name)?.ratio ?? NaN
    const isKept = isGood ? ratio >= old * (1 - MOST_DECAY) : ratio <= old * (1 + MOST_DECAY)
    return isKept ? [] : [`${name}: ${ratio.toFixed(2)} of bare Fastify, was ${old.toFixed(2)}`]
  })
}

/** The ratios of this service by name, and whether more is good. */
function ratiosOf({ cases, processes }: Results) {
  const ratios = new Map<string, { ratio: number; isGood: boolean }>()
  const add = (server: string, what: string, ratio: number, isGood: boolean) => {
    if (server.startsWith('this service')) ratios.set(`${server}, ${what}`, { ratio, isGood })
  }
  for (const [name, by] of Object.entries(cases)) {
    for (const [server, { ratio }] of Object.entries(by)) {
      add(server, `${name}: requests per second`, ratio.rate, true)
      add(server, `${name}: processor time`, ratio.cpu, false)
    }
  }
  const bare = processes[BARE]?.coldStart ?? NaN
  for (const [server, { coldStart }] of Object.entries(processes)) {
    add(server, 'cold start', coldStart / bare, false)
  }
  return ratios
}
