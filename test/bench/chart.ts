import { BARE } from './servers.ts'
import type { Results } from './results.ts'

/** The cases of the chart, and their titles. */
const PANELS: Readonly<Record<string, string>> = {
  'list of 20 among 10,000, 32 connections': 'list of 20 plants',
  'create, 32 connections': 'create',
  'delete, 32 connections': 'delete',
}
const LEFT = 180
const PANEL = 200
const BAR = 110
const ROW = 22
const TOP = 64

/** Both colour schemes: a browser takes its own in a picture, too. */
const STYLE = `
    .surface { fill: #fcfcfb } text { fill: #52514e; font: 12px system-ui, sans-serif }
    .title { fill: #0b0b0b; font-weight: 600 } .ours { fill: #2a78d6 } .peer { fill: #b4b2a8 }
    @media (prefers-color-scheme: dark) {
      .surface { fill: #1a1a19 } text { fill: #c3c2b7 } .title { fill: #fff } .ours { fill: #3987e5 } .peer { fill: #6b6a64 }
    }`

/** Requests per second of this service and its peers, as an SVG picture. */
export function chart({ cases, processes }: Results): string {
  const servers = Object.keys(processes).filter((name) => !name.endsWith('no log'))
  const height = TOP + servers.length * ROW + 10
  const width = LEFT + PANEL * Object.keys(PANELS).length
  const names = servers.map((name, row) => text(LEFT - 8, row, name, 'text-anchor="end"'))
  const panels = Object.entries(PANELS).flatMap(([name, title], column) => {
    const rates = servers.map((server) => cases[name]?.[server]?.rate ?? 0)
    const x = LEFT + column * PANEL
    const bars = rates.map((rate, row) => bar(x, row, rate / Math.max(...rates), rate, servers[row] ?? BARE))
    return [text(x, -1, title, 'class="title"'), ...bars]
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
  <title>Requests per second of this service and its peers</title>
  <style>${STYLE}
  </style>
  <rect class="surface" width="${width}" height="${height}" rx="6"/>
  <text class="title" x="12" y="24">Requests per second, 32 connections, server on one core (longer is better)</text>
  ${[...names, ...panels].join('\n  ')}
</svg>
`
}

function text(x: number, row: number, content: string, attributes: string): string {
  return `<text x="${x}" y="${TOP + row * ROW + 11}" ${attributes}>${content}</text>`
}

function bar(x: number, row: number, share: number, rate: number, server: string): string {
  const kind = server.startsWith('this service') ? 'ours' : 'peer'
  const length = Math.max(1, Math.round(share * BAR))
  const figure = rate.toLocaleString('en', { maximumSignificantDigits: 3 })
  const rect = `<rect class="${kind}" x="${x}" y="${TOP + row * ROW}" width="${length}" height="14" rx="2"/>`
  return rect + text(x + length + 6, row, figure, kind === 'ours' ? 'class="title"' : '')
}
