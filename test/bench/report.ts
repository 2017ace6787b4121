// The tables of a run, and its figures in the READMEs, in Markdown.
import { readFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { BARE, TUNED } from './servers.ts'

const count = (figure: number) => figure.toLocaleString('en', { maximumSignificantDigits: 3 })
const time = (milliseconds: number) => `${count(milliseconds)} ms`
const mebibytes = (bytes: number) => `${count(bytes / 2 ** 20)} MiB`
/** How a figure of each kind is written. */
const SHOWS = { rate: count, cpu: time, p50: time, p99: time, started: time, memory: mebibytes }
type Kind = keyof typeof SHOWS

/** One server in one round: the figures of each row of the tables. */
export type Round = ReadonlyMap<string, Figures>
export type Figures = Readonly<Partial<Record<Kind, number>>>

/** The rounds of each server, by name. */
type Servers = ReadonlyMap<string, readonly Round[]>

type Table = readonly [title: string, kinds: readonly Kind[], hasRatio: boolean]
const TABLES: readonly Table[] = [
  ['requests per second', ['rate'], true],
  ['processor time per 1,000', ['cpu'], true],
  ['p50, p99', ['p50', 'p99'], false],
  ['the process', ['started', 'memory'], false],
]

const FILES = ['README.md', 'test/bench/README.md'] as const
const PLACE = /(?<=<!-- bench -->\n\n).*(?=\n\n<!-- \/bench -->)/s

/** The processor and memory of this machine, and how busy it is with something else. */
export function machine(): string {
  const model = cpus()[0]?.model ?? 'unknown processor'
  const busy = loadavg()[0]?.toFixed(1) ?? ''
  return `${model}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, load average ${busy} before the run`
}

/** The tables of a run. Each figure is a median of its rounds. @param servers the rounds of each, by name */
export function tables(servers: Servers): string {
  return TABLES.map((table) => tableOf(table, servers)).join('\n\n')
}

function tableOf([title, kinds, hasRatio]: Table, servers: Servers): string {
  const bare = servers.get(BARE) ?? []
  const figure = (rounds: readonly Round[], row: string, kind: Kind) => {
    const figures = figuresOf(rounds, row, kind)
    const shown = SHOWS[kind](median(figures))
    if (!hasRatio) return shown
    const figuresOfBare = figuresOf(bare, row, kind)
    const ratios = figures.map((figure, at) => figure / (figuresOfBare[at] ?? NaN))
    return `${shown} (${median(ratios).toFixed(2)})`
  }
  const head = [title, ...servers.keys()]
  const lines = [head, head.map(() => '---')]
  for (const [row, figures] of bare[0] ?? []) {
    const shown = kinds.filter((kind) => kind in figures)
    if (shown.length === 0) continue
    const cell = (rounds: readonly Round[]) => shown.map((kind) => figure(rounds, row, kind))
    lines.push([row, ...servers.values().map((rounds) => cell(rounds).join(', '))])
  }
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** The figure of a kind in each round; NaN where it is missing. */
function figuresOf(rounds: readonly Round[], row: string, kind: Kind): number[] {
  return rounds.map((round) => round.get(row)?.[kind] ?? NaN)
}

/** The expected figures of each file. @param run the tables of a run, by default of the last recorded one */
export function published(
  run = PLACE.exec(readFileSync(FILES[1], 'utf8'))?.[0] ?? '',
): Record<string, string> {
  const texts = [highlightsOf(run), run]
  return Object.fromEntries(
    FILES.map((file, at) => [
      file,
      readFileSync(file, 'utf8').replace(PLACE, () => texts[at] ?? ''),
    ]),
  )
}

/** Three figures for the README, from the tables of a run. */
function highlightsOf(run: string): string {
  const rows = run.split('\n').map((line) => line.split(/ ?\| ?/))
  const [, , ...columns] = rows.find(([, title]) => title === 'requests per second') ?? []
  const cell = (name: string, column: string) =>
    rows.find((cells) => cells[1] === name)?.[columns.indexOf(column) + 2]?.replace(/ \(.*/, '')
  const service = (name: string) => cell(name, 'this service, SQLite')
  const numberOf = (shown = '') => Number(shown.replaceAll(',', ''))
  /** A run of an earlier version has no such column. */
  const ofTuned = (name: string) => {
    if (!columns.includes(TUNED)) return ''
    const ratio = numberOf(service(name)) / numberOf(cell(name, TUNED))
    return `, ${ratio.toFixed(2)} of a program written by hand for this contract`
  }
  const [inTurn, list, create, start] = [
    'list of 20, 100,000 callers in turn, 32 connections',
    'list of 20 among 10,000, 32 connections',
    'create, 32 connections',
    'cold start to the first authorized answer',
  ]
  return [
    `- **${service(inTurn)}** lists of 20 plants a second on one core, each of another caller; the same list again and again: ${service(list)}${ofTuned(list)}; a bare Fastify route with a constant answer: ${cell(list, BARE)}.`,
    `- **${service(create)}** durable creates a second${ofTuned(create)}; one after the other: ${service('create, 1 connection')}.`,
    `- **${service(start)}** from a cold start to the first authorized answer; bare Fastify: ${cell(start, BARE)}.`,
  ].join('\n')
}

/** The figure in the middle. */
function median(figures: readonly number[]): number {
  return figures.toSorted((left, two) => left - two)[Math.floor(figures.length / 2)] ?? NaN
}
