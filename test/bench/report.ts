// The tables of a run, and the figures that the READMEs show of it, in Markdown.
import { readFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { BARE, type Sample } from './servers.ts'

/** What one server did in one round. */
export interface Round {
  /** By case. */
  readonly samples: ReadonlyMap<string, Sample>
  /** Milliseconds from its start to the first authorized answer. */
  readonly started: number
  /** Bytes of memory, before the first case and after the last one. */
  readonly before: number
  readonly after: number
}

/** A row of a table: its name, how its figures are written, and what they are in a round. */
type Row = readonly [name: string, show: (figure: number) => string, ...figures: ((round: Round) => number)[]]

const FILES = ['README.md', 'test/bench/README.md'] as const
const PLACE = /(?<=<!-- bench -->\n\n).*(?=\n\n<!-- \/bench -->)/s

/** The processor and memory of this machine, and how busy it is with something else. */
export function machine(): string {
  const model = cpus()[0]?.model ?? 'unknown processor'
  const busy = loadavg()[0]?.toFixed(1) ?? ''
  return `${model}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, load average ${busy} before the run`
}

/** The tables of a run. Each figure is a median of its rounds. @param rounds by server */
export function tables(rounds: ReadonlyMap<string, readonly Round[]>): string {
  const bare = rounds.get(BARE) ?? []
  const table = (title: string, rows: readonly Row[], hasRatio = false) => {
    const cell = ([, show, ...figures]: Row, results: readonly Round[]) => {
      const texts = figures.map((of) => {
        const ratio = median(results.map((round, at) => of(round) / of(bare[at] ?? round)))
        return `${show(median(results.map(of)))}${hasRatio ? ` (${ratio.toFixed(2)})` : ''}`
      })
      return texts.join(', ')
    }
    const head = [title, ...rounds.keys()]
    const body = rows.map((row) => [row[0], ...rounds.values().map((results) => cell(row, results))])
    return [head, head.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
  }
  const ofCases = (show: Row[1], ...keys: (keyof Sample)[]) =>
    [...(bare[0]?.samples.keys() ?? [])].map((name): Row => {
      return [
        name,
        show,
        ...keys.map(
          (key) =>
            ({ samples }: Round) =>
              samples.get(name)?.[key] ?? NaN,
        ),
      ]
    })
  return [
    table('requests per second', ofCases(count, 'rate'), true),
    table('processor time per 1,000', ofCases(time, 'cpu'), true),
    table('p50, p99', ofCases(time, 'p50', 'p99')),
    table('the process', [
      ['cold start to the first authorized answer', time, ({ started }) => started],
      ['memory after start', mebibytes, ({ before }) => before],
      ['memory after the run', mebibytes, ({ after }) => after],
    ]),
  ].join('\n\n')
}

/** What is recorded: the tables of the last run, in the README beside this file. */
export function recorded(): string {
  return PLACE.exec(readFileSync(FILES[1], 'utf8'))?.[0] ?? ''
}

/** What each file that shows figures of a run has to contain. */
export function published(run: string): Record<string, string> {
  const texts = [highlightsOf(run), run]
  return Object.fromEntries(
    FILES.map((file, at) => [file, readFileSync(file, 'utf8').replace(PLACE, () => texts[at] ?? '')]),
  )
}

/** Three figures for the README, from the tables of a run. */
function highlightsOf(run: string): string {
  const rows = run.split('\n').map((line) => line.split(/ ?\| ?/))
  const service = rows.find(([, title]) => title === 'requests per second')?.indexOf('this service, SQLite') ?? 0
  const cell = (name: string, column: number) => rows.find((cells) => cells[1] === name)?.[column]?.replace(/ \(.*/, '')
  const [list, start] = ['list of 20 among 10,000, 32 connections', 'cold start to the first authorized answer']
  return [
    `- **${cell(list, service)}** lists of 20 plants a second on one core; a bare Fastify route that answers a constant: ${cell(list, 2)}.`,
    `- **${cell('create, 32 connections', service)}** durable creates a second; one after the other: ${cell('create, 1 connection', service)}.`,
    `- **${cell(start, service)}** from a cold start to the first authorized answer; bare Fastify: ${cell(start, 2)}.`,
  ].join('\n')
}

/** The figure in the middle. */
function median(figures: readonly number[]): number {
  return figures.toSorted((one, two) => one - two)[Math.floor(figures.length / 2)] ?? NaN
}

const count = (figure: number) => figure.toLocaleString('en', { maximumSignificantDigits: 3 })
const time = (milliseconds: number) => `${count(milliseconds)} ms`
const mebibytes = (bytes: number) => `${count(bytes / 2 ** 20)} MiB`
