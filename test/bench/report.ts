import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import type { Figures, Results } from './results.ts'
import { BARE } from './servers.ts'

/** The processor and memory of this machine, and how busy it is with something else. */
export function machine(): string {
  const model = cpus()[0]?.model ?? 'unknown processor'
  const busy = loadavg()[0]?.toFixed(1) ?? ''
  return `${model}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, load average ${busy} before the run`
}

/** Writes the tables and the figures of the README from a run. */
export function publish(results: Results): void {
  for (const [file, text] of Object.entries(published(results))) writeFileSync(file, text)
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
