// One request and its response, from the first bytes to the close: their state, and everything that the end gives back.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { withoutPort } from './client-address.ts'
import { type RequestLog, routeTemplate } from './request-log.ts'

const EXCHANGE = Symbol('exchange')

declare module 'node:http' {
  interface IncomingMessage {
    [EXCHANGE]?: Exchange
  }
}

/** A resource of the process that requests share. */
interface Resource {
  /** Gives back what a request holds. */
  readonly giveBack: (exchange: Exchange) => void
}

/** A request and its response. */
export class Exchange {
  /** Node's request. */
  readonly raw: IncomingMessage
  /** Node's response. */
  readonly response: ServerResponse
  /** In `X-Request-Id` of the response, and in the log. */
  readonly id: string
  /** Who is calling; empty where the operation requires no credentials. */
  caller = ''
  /** The names of the header fields that were sent several times, in lower case; undefined if there are none. */
  repeatedHeaders: ReadonlySet<string> | undefined
  /** The media type of the body, in lower case; undefined without a body. */
  mediaType: string | undefined
  /** Whether the request was one too many. */
  isShed = false
  /** When the response was first seen begun, on the clock of `performance.now()`. */
  answeredSince: number | undefined
  /** Ends a response that may go on without end. */
  finish: (() => void) | undefined
  /** The amounts that the request holds of resources. Everything is given back at the end, if not earlier. */
  held: Map<Resource, number> | undefined
  /** Seconds from the first bytes to the end. */
  seconds = 0
  readonly #start = performance.now()
  readonly #log: RequestLog | undefined
  #request: FastifyRequest | undefined
  #reply: FastifyReply | undefined
  /** The address of the client, or any other string that a gateway has passed on as its address. */
  #ip = ''
  #endings: (() => void)[] | undefined
  #isEnded = false

  /** @param log where the request is logged and measured, if it is */
  constructor(raw: IncomingMessage, response: ServerResponse, id: string, log?: RequestLog) {
    this.raw = raw
    this.response = response
    this.id = id
    this.#log = log
    raw[EXCHANGE] = this
    log?.begin()
    response.on('close', () => this.#end())
  }

  /** Fastify's request. */
  get request(): FastifyRequest {
    if (this.#request === undefined) throw new Error('Fastify has not got the request')
    return this.#request
  }

  /** Fastify's reply. */
  get reply(): FastifyReply {
    if (this.#reply === undefined) throw new Error('Fastify has not got the request')
    return this.#reply
  }

  /** Whether Fastify has got the request. */
  get isRouted(): boolean {
    return this.#request !== undefined
  }

  /** Adds what Fastify has, and sets the headers of every response. */
  admit(request: FastifyRequest, reply: FastifyReply): void {
    this.#request = request
    this.#reply = reply
    this.#ip = request.ip // known only while the connection is open
    reply.headers(standardHeaders(this.id))
  }

  /** The template of the path; undefined if the path, or the method on it, is unknown. */
  get route(): string | undefined {
    return this.#request && routeTemplate(this.#request)
  }

  /** The address of the client for the log; undefined if a gateway has passed on another string. */
  get address(): string | undefined {
    const isDirect = this.#ip === this.raw.socket.remoteAddress
    if (isDirect) return this.#ip
    const address = withoutPort(this.#ip)
    return isIP(address) === 0 ? undefined : address
  }

  /** Who the request counts for: its caller or, without credentials, the client's address. No caller has a NUL in the name. */
  get client(): string {
    return this.caller === '' ? `\0${this.#ip}` : this.caller
  }

  /** Calls a function at the end; at once, if the response is closed by now. */
  onEnd(ending: () => void): void {
    if (this.#isEnded) ending()
    else (this.#endings ??= []).push(ending)
  }

  /** Breaks off a response that the client does not read. */
  breakOff(log: FastifyBaseLogger, reason: string): void {
    log.warn({ reqId: this.id, reason }, 'response broken off')
    this.response.destroy()
  }

  /** The response has closed, for whatever reason. */
  #end(): void {
    this.#isEnded = true
    this.seconds = (performance.now() - this.#start) / 1000
    for (const resource of this.held?.keys() ?? []) resource.giveBack(this)
    for (const ending of this.#endings ?? []) ending()
    this.#readRest()
    this.#log?.end(this)
  }

  /**
   * Reads the rest of a body: otherwise the next request of the connection would wait. Node reads the rest itself only if no
   * part of the body was read.
   */
  #readRest(): void {
    const isLeft = this.response.writableFinished && !this.raw.complete
    if (isLeft) this.raw.unpipe().removeAllListeners('readable').resume()
  }
}

/** The exchange of a request that Fastify has got. */
export function exchangeOf({ raw }: Pick<FastifyRequest, 'raw'>): Exchange {
  const exchange = raw[EXCHANGE]
  if (exchange === undefined) throw new Error('the request has no exchange')
  return exchange
}

/** Gives Fastify's request to its exchange: the first step of every request. */
export function admit(request: FastifyRequest, reply: FastifyReply): Exchange {
  // Fastify's `inject` sends a request without a connection.
  const exchange = request.raw[EXCHANGE] ?? new Exchange(request.raw, reply.raw, request.id)
  exchange.admit(request, reply)
  return exchange
}

/** An id that may be logged. It must not hold an access token, which has `_` and 48 hexadecimal digits. */
const ANY_ID = /^(?!.*_[\da-f]{48})[\w.-]{1,64}$/
/** An id as the service makes them. */
const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

/** Finds the id of a request. */
export type RequestId = (request: Pick<IncomingMessage, 'headers'>) => string

/**
 * Makes the function that finds the id of a request: its `X-Request-Id` if this may be used, else a new UUID.
 * @param takesAny whether the errors of the service can show any id, and not only a UUID
 */
export function requestIds(takesAny: boolean): RequestId {
  const pattern = takesAny ? ANY_ID : UUID
  return ({ headers }) => {
    const id = headers['x-request-id']
    return typeof id === 'string' && pattern.test(id) ? id : randomUUID()
  }
}

/** The id of a request of Node that has begun. */
export const idOf = (raw: IncomingMessage) => raw[EXCHANGE]?.id

/** Only the docs page is a page. If a browser opens any other answer, the browser runs nothing of it. */
const NO_PAGE = "sandbox; default-src 'none'"

/** The headers of every response. */
export function standardHeaders(id: string): Record<string, string> {
  return {
    'cache-control': 'no-store',
    'content-security-policy': NO_PAGE,
    'x-content-type-options': 'nosniff',
    'x-request-id': id,
  }
}
