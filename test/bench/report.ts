// What is recorded of a run, and shown in the READMEs.
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import type { Sample } from './cases.ts'
import { BARE } from './servers.ts'

/** What one server did in one round. */
export interface Round {
  /** By case. */
  readonly samples: Readonly<Record<string, Sample>>
  /** Milliseconds from its start to the first authorized answer. */
  readonly coldStart: number
  /** Bytes of memory, before the first case and after the last one. */
  readonly memoryAfterStart: number
  readonly memoryAfterRun: number
}

/** A sample, and each of its figures as a share of that of bare Fastify. */
type Figures = Sample & { readonly ratio: Sample }

type By<Value> = Readonly<Record<string, Value>>

/** A whole run, as it is recorded. Every figure is a median over its rounds. */
export interface Results {
  readonly date: string
  readonly commit: string
  readonly machine: string
  readonly versions: By<string>
  /** What the load came from, and where it ran. */
  readonly load: string
  /** By case and server. */
  readonly cases: By<By<Figures>>
  /** By server. */
  readonly processes: By<Omit<Round, 'samples'>>
}

const RECORD = 'test/bench/results.json'

/** The recorded run. */
export function recorded(): Results {
  return JSON.parse(readFileSync(RECORD, 'utf8')) as Results // as `publish` wrote it
}

/** Records a run, and writes the tables and the figures of the READMEs. */
export function publish(results: Results): void {
  writeFileSync(RECORD, `${JSON.stringify(results, undefined, 2)}\n`)
  for (const [file, text] of Object.entries(published(results))) writeFileSync(file, text)
}

/** The processor and memory of this machine, and how busy it is with something else. */
export function machine(): string {
  const model = cpus()[0]?.model ?? 'unknown processor'
  const busy = loadavg()[0]?.toFixed(1) ?? ''
  return `${model}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, load average ${busy} before the run`
}

/** The medians of the rounds, and those of the shares of what bare Fastify did in the same rounds. */
export function mediansOf(rounds: readonly By<Round>[]): Pick<Results, 'cases' | 'processes'> {
  const [first = {}] = rounds
  const medianOf = (figure: (round: By<Round>) => number | undefined) =>
    median(rounds.map((each) => figure(each) ?? NaN))
  const samples = (server: string, name: string): Figures => {
    const each = (figure: (sample: Sample | undefined, bare: Sample | undefined) => number): number =>
      medianOf((round) => figure(round[server]?.samples[name], round[BARE]?.samples[name]))
    const all = (of: (key: keyof Sample) => number): Sample => {
      return { rate: of('rate'), p50: of('p50'), p99: of('p99'), cpu: of('cpu') }
    }
    return {
      ...all((key) => each((sample) => sample?.[key] ?? NaN)),
      ratio: all((key) => each((sample, bare) => Number(sample?.[key]) / Number(bare?.[key]))),
    }
  }
  const byServer = <Value>(make: (server: string) => Value) =>
    Object.fromEntries(Object.keys(first).map((server) => [server, make(server)]))
  const names = Object.keys(first[BARE]?.samples ?? {})
  return {
    cases: Object.fromEntries(names.map((name) => [name, byServer((server) => samples(server, name))])),
    processes: byServer((server) => ({
      coldStart: medianOf((round) => round[server]?.coldStart),
      memoryAfterStart: medianOf((round) => round[server]?.memoryAfterStart),
      memoryAfterRun: medianOf((round) => round[server]?.memoryAfterRun),
    })),
  }
}

/** What each file that shows figures of a run has to contain. */
export function published(results: Results): Record<string, string> {
  const filled = (file: string, text: string) =>
    readFileSync(file, 'utf8').replace(
      /<!-- bench -->.*<!-- \/bench -->/s,
      () => `<!-- bench -->\n\n${text}\n\n<!-- /bench -->`,
    )
  return {
    'README.md': filled('README.md', highlights(results)),
    'test/bench/README.md': filled('test/bench/README.md', tables(results)),
  }
}

/** Three figures for the README, in Markdown. */
function highlights({ cases, processes }: Results): string {
  const rate = (name: string, server: string) => count(cases[`${name}, 32 connections`]?.[server]?.rate ?? NaN)
  const [list, create, service] = ['list of 20 among 10,000', 'create', 'this service, SQLite']
  return [
    `- **${rate(list, service)}** lists of 20 plants a second on one core; a bare Fastify route that answers a constant: ${rate(list, BARE)}.`,
    `- **${rate(create, service)}** durable creates a second; with one commit for each: ${rate(create, 'straightforward, SQLite')}.`,
    `- **${time(processes[service]?.coldStart)}** from a cold start to the first authorized answer; bare Fastify: ${time(processes[BARE]?.coldStart)}.`,
  ].join('\n')
}

/** The tables of the README, in Markdown. */
export function tables({ cases, processes, ...about }: Results): string {
  const servers = Object.keys(processes)
  const versions = Object.entries(about.versions).map(([name, version]) => `${name} ${version}`)
  const table = (title: string, rows: readonly (readonly [name: string, cell: (server: string) => string])[]) =>
    [
      [title, ...servers],
      ['---', ...servers.map(() => '---')],
      ...rows.map(([name, cell]) => [name, ...servers.map(cell)]),
    ]
      .map((cells) => `| ${cells.join(' | ')} |`)
      .join('\n')
  const ofCases = (title: string, cell: (figures: Figures) => string) =>
    table(
      title,
      Object.entries(cases).map(([name, by]) => [name, (server) => (by[server] ? cell(by[server]) : '')]),
    )
  return [
    `Measured by \`npm run bench\` on ${about.date.slice(0, 10)}: ${about.machine}; ${versions.join(', ')}; ${about.load}.`,
    ofCases('requests per second', ({ rate, ratio }) => `${count(rate)} (${ratio.rate.toFixed(2)})`),
    ofCases('processor time per 1,000', ({ cpu, ratio }) => `${time(cpu)} (${ratio.cpu.toFixed(2)})`),
    ofCases('p50, p99', ({ p50, p99 }) => `${time(p50)}, ${time(p99)}`),
    table('the process', [
      ['cold start to the first authorized answer', (server) => time(processes[server]?.coldStart)],
      ['memory after start', (server) => memory(processes[server]?.memoryAfterStart)],
      ['memory after the run', (server) => memory(processes[server]?.memoryAfterRun)],
    ]),
  ].join('\n\n')
}

/** The figure in the middle. */
function median(figures: readonly number[]): number {
  return figures.toSorted((one, two) => one - two)[Math.floor(figures.length / 2)] ?? NaN
}

function count(figure: number): string {
  return figure.toLocaleString('en', { maximumSignificantDigits: 3 })
}

function time(milliseconds = NaN): string {
  return `${count(milliseconds)} ms`
}

function memory(bytes = NaN): string {
  return `${count(bytes / 2 ** 20)} MiB`
}
