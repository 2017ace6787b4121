// Turns a JSON line of the log into a readable one: `12:34:56 info request method=GET status=200`.
import { pino } from 'pino'
import { indented, visible } from './terminal.ts'

interface Line {
  readonly time: number
  readonly level: number
  readonly msg?: string
  readonly err?: { readonly stack?: string }
  readonly [field: string]: unknown
}

export function prettyPrint(json: string): string {
  const {
    time,
    level,
    msg = '',
    err,
    pid: _pid,
    hostname: _hostname,
    ...rest
  } = JSON.parse(json) as Line // written by pino
  if (String(rest['route']).startsWith('/docs/static/')) return '' // a dozen of these files, fetched by the page, would hide other lines
  const fields = Object.entries(rest).map(
    ([key, value]) => `${key}=${unquote(JSON.stringify(value))}`,
  )
  const head = [
    new Date(time).toTimeString().slice(0, 8),
    pino.levels.labels[level]?.padEnd(5),
    msg,
    ...fields,
  ]
  const line = visible(head.join(' '))
  const stack = err?.stack === undefined ? '' : `${indented(err.stack)}\n`
  return `${line}\n${stack}`
}

function unquote(json: string): string {
  return json.replace(/^"([\w./:@{}#-]+)"$/, '$1')
}
