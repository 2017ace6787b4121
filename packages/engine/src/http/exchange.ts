// A request and its response as one object, from the first bytes to the close; and the open ones of
// a server.
import { fail } from 'node:assert'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP, type Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { withoutPort } from './client-address.ts'
import { Counter, METRIC_PREFIX } from './metrics.ts'
import { RepeatedReasons } from './repeated-reasons.ts'
import { type RequestLog, routeTemplate } from './request-log.ts'

/** The field of Node's request for its exchange. */
export const EXCHANGE = Symbol('exchange')

declare module 'node:http' {
  interface IncomingMessage {
    [EXCHANGE]?: Exchange
  }
}
declare module 'fastify' {
  interface FastifyInstance {
    readonly exchanges: Exchanges
  }
  interface FastifyRequest {
    readonly exchange: Exchange
  }
}

const SHED = new Counter({
  name: `${METRIC_PREFIX}shed_requests_total`,
  help: 'Requests refused because there were too many',
})
/** The least milliseconds between two log lines about refusals. A line for each refusal would be too much load. */
const LOG_INTERVAL = 1000

/** A resource of the process, shared by requests. */
interface Resource {
  /** Gives back everything held by a request. */
  readonly giveBack: (exchange: Exchange) => void
}

export class Exchange {
  readonly raw: IncomingMessage
  readonly response: ServerResponse
  /** In `X-Request-Id` of the response, and in the log. */
  readonly id: string
  /** Empty where the operation requires no credentials. */
  caller = ''
  /** The scopes of the credentials, in any order. One may be there twice. */
  scopes: readonly string[] = []
  /** The names of repeated header fields, in lower case; undefined without any. */
  repeatedHeaders: ReadonlySet<string> | undefined
  /** The media type of the body, in lower case; undefined without a body. */
  mediaType: string | undefined
  /** Whether the request was refused as one too many. */
  isShed = false
  /** When the response was first seen begun, on the clock of `performance.now()`. */
  answeredSince: number | undefined
  /** Ends a response which would go on, such as a stream of events. */
  finish: (() => void) | undefined
  /** What the request holds of resources. Everything is given back at the end, if not earlier. */
  held: Map<Resource, number> | undefined
  /** Seconds from the first bytes to the end. */
  seconds = 0
  readonly #start = performance.now()
  readonly #log: RequestLog | undefined
  #request: FastifyRequest | undefined
  #reply: FastifyReply | undefined
  /** The address of the client, or any other string passed on by a gateway. */
  #ip = ''
  #endings: (() => void)[] | undefined
  #isEnded = false

  /** @param log of the request, if it is logged and measured */
  constructor(raw: IncomingMessage, response: ServerResponse, id: string, log?: RequestLog) {
    this.raw = raw
    this.response = response
    this.id = id
    this.#log = log
    raw[EXCHANGE] = this
    log?.begin()
    response.on('close', () => this.#end())
  }

  get request(): FastifyRequest {
    if (this.#request === undefined) throw new Error('Fastify has not got the request')
    return this.#request
  }

  get reply(): FastifyReply {
    if (this.#reply === undefined) throw new Error('Fastify has not got the request')
    return this.#reply
  }

  /** Whether Fastify has got the request. */
  get isRouted(): boolean {
    return this.#request !== undefined
  }

  /** Adds Fastify's request and reply, and sets the headers of every response. */
  admit(request: FastifyRequest, reply: FastifyReply): void {
    this.#request = request
    this.#reply = reply
    this.#ip = withoutPort(request.ip) // known only while the connection is open
    reply.headers(standardHeaders(this.id))
  }

  /** The template of the path; undefined if the path, or the method on it, is unknown. */
  get route(): string | undefined {
    return this.#request && routeTemplate(this.#request)
  }

  /** The address of the client for the log; undefined if a gateway has passed on some other string. */
  get address(): string | undefined {
    return isIP(this.#ip) === 0 ? undefined : this.#ip
  }

  /**
   * The client whose shares the request uses: its caller or, without credentials, the client's
   * address. No caller has a NUL in the name.
   */
  get client(): string {
    return this.caller === '' ? `\0${this.#ip}` : this.caller
  }

  /** Calls a function at the end; at once, if the response is closed by now. */
  onEnd(ending: () => void): void {
    if (this.#isEnded) ending()
    else (this.#endings ??= []).push(ending)
  }

  /** Breaks off a response to a client that does not read. */
  breakOff(log: FastifyBaseLogger, reason: string): void {
    log.warn({ reqId: this.id, reason }, 'response broken off')
    this.response.destroy()
  }

  /** Call it when the response has closed, for whatever reason. */
  #end(): void {
    this.#isEnded = true
    this.seconds = (performance.now() - this.#start) / 1000
    for (const resource of this.held?.keys() ?? []) resource.giveBack(this)
    for (const ending of this.#endings ?? []) ending()
    this.#readRest()
    this.#log?.end(this)
  }

  /**
   * Reads the rest of a body: otherwise the next request of the connection would wait. Node reads
   * the rest itself only if no part of the body was read.
   */
  #readRest(): void {
    const isLeft = this.response.writableFinished && !this.raw.complete
    if (isLeft) this.raw.unpipe().removeAllListeners('readable').resume()
  }
}

/** The getter of `request.exchange`. */
export function exchangeOf(this: FastifyRequest): Exchange {
  return this.raw[EXCHANGE] ?? fail('the request has not begun')
}

/** Adds Fastify's request to its exchange: the first step of every request. */
export function admit(request: FastifyRequest, reply: FastifyReply): Exchange {
  // Fastify's `inject` sends a request without a connection.
  const exchange = request.raw[EXCHANGE] ?? new Exchange(request.raw, reply.raw, request.id)
  exchange.admit(request, reply)
  return exchange
}

/** Only the docs page is a page. If a browser opens any other answer, it runs nothing of it. */
const NO_PAGE = "sandbox; default-src 'none'"

export function standardHeaders(id: string): Record<string, string> {
  return {
    'cache-control': 'no-store',
    'content-security-policy': NO_PAGE,
    'x-content-type-options': 'nosniff',
    'x-request-id': id,
  }
}

/** An id for the log. It must not hold an access token, which has `_` and 48 hexadecimal digits. */
const ANY_ID = /^(?!.*_[\da-f]{48})[\w.-]{1,64}$/
/** An id as made by the service. */
const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

interface Options {
  readonly log: FastifyBaseLogger
  /** The log of requests, if they are logged and measured. */
  readonly requestLog: RequestLog | undefined
  /** Whether the errors of the service can show any id, and not only a UUID. */
  readonly takesAnyId: boolean
}

export class Exchanges {
  /** Reasons why the store could not answer requests. */
  readonly storeFaults = new RepeatedReasons()
  readonly #options: Options
  // By connection: the latest exchange. A set of the open ones would often grow and shrink. V8 then chains the old tables of
  // the set, and all exchanges in them survive until the next full garbage collection.
  readonly #latest = new Map<Socket, Exchange>()
  #isDraining = false
  #isClosing = false
  #warned = -Infinity

  constructor(options: Options) {
    this.#options = options
  }

  begin(raw: IncomingMessage, response: ServerResponse): Exchange {
    const { socket } = raw
    const exchange = new Exchange(raw, response, this.idOf(raw), this.#options.requestLog)
    if (!this.#latest.has(socket)) socket.once('close', () => this.#latest.delete(socket))
    this.#latest.set(socket, exchange)
    if (this.#isDraining) response.shouldKeepAlive = false
    return exchange
  }

  /** The id of a request: its `X-Request-Id` if acceptable, else a new UUID. */
  idOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
    const id = headers['x-request-id']
    const pattern = this.#options.takesAnyId ? ANY_ID : UUID
    return typeof id === 'string' && pattern.test(id) ? id : randomUUID()
  }

  /** The latest exchange of a connection. It may have ended. */
  latest(socket: Socket): Exchange | undefined {
    return this.#latest.get(socket)
  }

  /** Closes each connection after its present response, or its next one (RFC 9112, section 9.6). */
  drain(): void {
    this.#isDraining = true
    for (const { response } of this.#latest.values()) response.shouldKeepAlive = false
  }

  /** Registers a response without an end. @param finish ends it */
  openStream(exchange: Exchange, finish: () => void): void {
    exchange.finish = finish
    if (this.#isClosing) finish()
  }

  /** Ends the responses without an end, when the server closes. */
  finishStreams(): void {
    this.#isClosing = true
    for (const { finish } of this.#latest.values()) finish?.()
  }

  /** Breaks off the responses to clients that read too slowly. Call it at intervals. @param timeout in seconds */
  cutSlowReaders(timeout: number): void {
    for (const exchange of this.#latest.values()) {
      const { response } = exchange
      if (response.closed || !response.headersSent) continue
      exchange.answeredSince ??= performance.now()
      if (performance.now() - exchange.answeredSince < timeout * 1000) continue
      // Nothing has happened in a stream for so long.
      if (exchange.finish && response.writableLength === 0) exchange.finish()
      else exchange.breakOff(this.#options.log, 'the client did not take the answer in time')
    }
  }

  /** Counts the refusal of one request or connection too many. */
  shed(exchange?: Exchange, reason?: string): void {
    if (exchange) exchange.isShed = true
    SHED.inc()
    if (performance.now() - this.#warned < LOG_INTERVAL) return
    this.#warned = performance.now()
    this.#options.log.warn({ reason }, 'too busy')
  }
}
