import { cpus, totalmem } from 'node:os'
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
  const sorted = figures.toSorted((one, two) => one - two)
  const middle = Math.floor(sorted.length / 2)
  const [low = 0, high = 0] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[middle]]
  return (low + high) / 2
}

/** The median of each figure of some samples. */
export function medianOf(samples: readonly Sample[]): Sample {
  return mapped((name) => median(samples.map((each) => each[name])))
}

/** The figures of a sample, and their shares of those of bare Fastify. */
export function compared(sample: Sample, bare: Sample): Figures {
  return { ...sample, ratio: mapped((name) => sample[name] / bare[name]) }
}

function mapped(figure: (name: keyof Sample) => number): Sample {
  return { rate: figure('rate'), p50: figure('p50'), p99: figure('p99'), cpu: figure('cpu') }
}

/** The processor and memory of this machine. */
export function machine(): string {
  return `${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB`
}

/** Writes a run down: in the record, and in the table of the README. */
export function record(results: Results): void {
  writeFileSync(RECORD, `${JSON.stringify(results, undefined, 2)}\n`)
  const readme = readFileSync('README.md', 'utf8')
  const table = () => `<!-- bench -->\n\n${tables(results)}\n\n<!-- /bench -->`
  writeFileSync('README.md', readme.replace(/<!-- bench -->.*<!-- \/bench -->/s, table))
}

/** The recorded run. */
export function recorded(): Results {
  return JSON.parse(readFileSync(RECORD, 'utf8')) as Results // as `record` wrote it
}

/** What of this service got worse in comparison with bare Fastify, a line each. */
export function decay(before: Results, now: Results): string[] {
  const ratios = ratiosOf(now)
  return [...ratiosOf(before)].flatMap(([name, { ratio: old, isGood }]) => {
    const ratio = ratios.get(name)?.ratio
    if (ratio === undefined) return [`${name}: not measured any more`]
    const isWorse = isGood ? ratio < old * (1 - MOST_DECAY) : ratio > old * (1 + MOST_DECAY)
    return isWorse ? [`${name}: ${ratio.toFixed(2)} of bare Fastify, was ${old.toFixed(2)}`] : []
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

/** One line for what a server did with a case. */
export function lineOf(server: string, { rate, p50, p99, cpu, ratio }: Figures): string {
  const cell = (figure: string, share: number) => `${figure} (${share.toFixed(2)})`.padStart(22)
  const parts = [
    cell(`${count(rate)}/s`, ratio.rate),
    cell(`p50 ${time(p50)}`, ratio.p50),
    cell(`p99 ${time(p99)}`, ratio.p99),
    cell(`cpu ${time(cpu)}/1,000`, ratio.cpu),
  ]
  return `  ${server.padEnd(28)}${parts.join('')}`
}

/** The tables of the README, in Markdown. */
export function tables({ cases, processes, longList, ...about }: Results): string {
  const servers = Object.keys(processes)
  const figures = (title: string, cell: (figures: Figures) => string) =>
    table(
      [title, ...servers],
      Object.entries(cases).map(([name, by]) => [
        name,
        ...servers.map((server) => (by[server] ? cell(by[server]) : '')),
      ]),
    )
  const ends = table(
    ['the process', ...servers],
    [
      row('cold start to the first authorized answer', (name) => time(processes[name]?.coldStart)),
      row('memory after start', (name) => memory(processes[name]?.memoryAfterStart)),
      row('memory after the run', (name) => memory(processes[name]?.memoryAfterRun)),
      row('the longest list: its first byte', (name) => time(longList[name]?.firstByte)),
      row('the longest list: its last byte', (name) => time(longList[name]?.time)),
      row('the longest list: additional memory', (name) => memory(longList[name]?.memory)),
      row('the longest list: p99 of lists of 20 meanwhile', (name) => time(longList[name]?.p99)),
    ],
  )
  function row(title: string, cell: (server: string) => string) {
    return [title, ...servers.map(cell)]
  }
  const versions = Object.entries(about.versions).map(([name, version]) => `${name} ${version}`)
  return [
    `Measured by \`npm run bench\` on ${about.date.slice(0, 10)}: ${about.machine}; ${versions.join(', ')}; ${about.load}.`,
    figures('requests per second', ({ rate, ratio }) => `${count(rate)} (${ratio.rate.toFixed(2)})`),
    figures('processor time per 1,000', ({ cpu, ratio }) => `${time(cpu)} (${ratio.cpu.toFixed(2)})`),
    figures('p50, p99', ({ p50, p99 }) => `${time(p50)}, ${time(p99)}`),
    ends,
  ].join('\n\n')
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function count(figure: number): string {
  return figure.toLocaleString('en', { maximumSignificantDigits: 3 })
}

function time(milliseconds: number | undefined): string {
  return milliseconds === undefined ? '' : `${count(milliseconds)} ms`
}

function memory(bytes: number | undefined): string {
  return bytes === undefined ? '' : `${count(bytes / 2 ** 20)} MiB`
}
