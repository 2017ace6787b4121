import { readFileSync, writeFileSync } from 'node:fs'
import type { LongList, Sample } from './cases.ts'

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
  readonly commit: string
  readonly machine: string
  readonly versions: By<string>
  /** What the load came from, and where it ran. */
  readonly load: string
  readonly cases: By<By<Figures>>
  readonly processes: By<Process>
  readonly longList: By<LongList>
}

const RECORD = 'test/bench/results.json'

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

/** Records a run. */
export function record(results: Results): void {
  writeFileSync(RECORD, `${JSON.stringify(results, undefined, 2)}\n`)
}

/** The recorded run. */
export function recorded(): Results {
  return JSON.parse(readFileSync(RECORD, 'utf8')) as Results // as `record` wrote it
}
