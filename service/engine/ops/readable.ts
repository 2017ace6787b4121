import { pino } from 'pino'

interface Line {
  readonly time: number
  readonly level: number
  readonly msg?: string
  readonly err?: { readonly stack?: string }
  readonly [field: string]: unknown
}

/** Makes a JSON line of the log readable for a person: `12:34:56 info  request method=GET status=200`. */
export function readable(json: string): string {
  const {
    time,
    level,
    msg = '',
    err,
    pid: _pid,
    hostname: _hostname,
    ...rest
  } = JSON.parse(json) as Line // by pino
  if (String(rest['route']).startsWith('/docs/static/')) return '' // the page has a dozen such files: their lines would hide others
  const fields = Object.entries(rest).map(
    ([key, value]) => `${key}=${unquote(JSON.stringify(value))}`,
  )
  const head = [
    new Date(time).toTimeString().slice(0, 8),
    pino.levels.labels[level]?.padEnd(5),
    msg,
    ...fields,
  ]
  // A terminal would obey control characters. With a line break, a message could pretend to be another line.
  const line = head.join(' ').replaceAll(/\p{Cc}/gu, ' ')
  const stack = err?.stack?.replaceAll(/[^\P{Cc}\n]/gu, ' ')
  return `${stack === undefined ? line : `${line}\n${stack}`}\n`
}

function unquote(json: string): string {
  return json.replace(/^"([\w./:@{}#-]+)"$/, '$1')
}
