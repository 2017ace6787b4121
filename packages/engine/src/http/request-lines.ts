// Writes the log lines of requests, as pino would: each field is escaped, and the route's part of the line is written once.
import type { FastifyBaseLogger } from 'fastify'
import { pino } from 'pino'

/** The fields of a line. Undefined and empty ones are left out. */
export interface RequestLine {
  readonly reqId: string
  readonly client: string | undefined
  readonly caller: string
  /** One of Node's: it has no character to escape. */
  readonly method: string
  readonly route: string | undefined
  readonly status: number
  readonly ms: number
  readonly isAborted: boolean
  /** In hexadecimal digits. */
  readonly traceId: string | undefined
}

/** The level `info` of pino, as a number. */
const INFO = 30

export class RequestLines {
  readonly #log: FastifyBaseLogger
  readonly #stream: { readonly write: (line: string) => unknown }
  /** The fields of the process. */
  readonly #process: string
  /** The fields of routes. */
  readonly #routes = new Map<string, string>()

  /** @param log of pino, which has these symbols for libraries: https://getpino.io/#/docs/api?id=pino-symbols */
  constructor(log: FastifyBaseLogger) {
    this.#log = log
    this.#process = String(Reflect.get(log, pino.symbols.chindingsSym))
    this.#stream = Reflect.get(log, pino.symbols.streamSym) as { write: (line: string) => unknown } // pino has checked it
  }

  /** Writes a line of the level `info`. */
  write(fields: RequestLine): void {
    const level = pino.levels.values[this.#log.level] ?? Infinity // `silent` has none
    if (level > INFO) return
    const { client, caller, status, ms, isAborted, traceId } = fields
    let line = `{"level":${INFO},"time":${Date.now()}${this.#process},"msg":"request"`
    line += `,"reqId":${JSON.stringify(fields.reqId)}`
    if (client !== undefined) line += `,"client":${JSON.stringify(client)}`
    if (caller !== '') line += `,"caller":${JSON.stringify(caller)}`
    line += `,"method":"${fields.method}"${this.#routeField(fields.route)},"status":${status},"ms":${ms}`
    if (isAborted) line += ',"aborted":true'
    if (traceId !== undefined) line += `,"trace_id":"${traceId}"`
    this.#stream.write(`${line}}\n`)
  }

  #routeField(route: string | undefined): string {
    if (route === undefined) return ''
    const written = this.#routes.get(route)
    if (written !== undefined) return written
    const field = `,"route":${JSON.stringify(route)}`
    this.#routes.set(route, field)
    return field
  }
}
