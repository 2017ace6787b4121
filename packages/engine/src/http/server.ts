// The HTTP server of a port: its limits and errors, and how many requests begin at a time.
import { fail } from 'node:assert'
import { lookup } from 'node:dns/promises'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { Config } from '../config.ts'
import { reasonOf, StartupError } from '../errors.ts'
import { answerError, usualError, type WriteError } from './error-answers.ts'
import { knownGateways } from './client-address.ts'
import { admit, EXCHANGE, exchangeOf, Exchanges } from './exchange.ts'
import { createServer, maxHeaderSize } from './node.ts'
import { BAD_TARGET, endsConnection, NO_SUCH_PATH, toRoutable } from './protocol.ts'
import { Refusals } from './refusals.ts'
import { RequestLog } from './request-log.ts'

/** The most waiting requests of a connection. Each takes about two kilobytes. */
const MAX_PIPELINED = 128
/** Milliseconds between two checks of the timeouts. */
const CHECK_INTERVAL = 250
/** The most requests to begin in one turn of the event loop. Turns must be short: Node accepts one new connection in each. */
const MAX_BEGUN = 64
/** The most requests to refuse in one turn. Refused clients try again: without a bound, the service would only refuse. */
const MAX_REFUSED = 24
/** Milliseconds after which a waiting request is refused. */
const WAIT_TIMEOUT = 500
const MAX_WAITING = 5000
/** No route has a schema. By default, Fastify would load Ajv for two dialects, and fast-json-stringify. */
const NO_COMPILERS = { buildValidator: () => failToCompile, buildSerializer: () => failToCompile }

interface Options {
  readonly config: Config
  readonly log: FastifyBaseLogger
  /** The most open connections. Further ones are closed. */
  readonly maxConnections: number
  /** Writes the errors outside of the operations. */
  readonly writeError?: WriteError
  /** Whether the errors can show any id of a caller, and not only a UUID. */
  readonly takesAnyId?: boolean
  /** Whether requests are logged and measured. */
  readonly isMeasured?: boolean
}

type Route = (request: IncomingMessage, response: ServerResponse) => void

export class HttpServer {
  readonly app: FastifyInstance
  readonly #options: Options
  readonly #admission = new Admission()
  readonly #exchanges: Exchanges
  readonly #refusals: Refusals
  /** How many requests of a connection wait for the answer to the one before. */
  readonly #waiting = new WeakMap<Socket, number>()

  constructor(options: Options) {
    const { config, log, isMeasured = false, takesAnyId = true, writeError = usualError } = options
    this.#options = options
    const requestLog = isMeasured ? new RequestLog(log) : undefined
    this.#exchanges = new Exchanges({ log, requestLog, takesAnyId })
    this.#refusals = new Refusals({ exchanges: this.#exchanges, requestLog, writeError })
    this.app = this.#makeApp()
    this.app.decorate('writeError', writeError)
    this.app.decorate('exchanges', this.#exchanges)
    this.app.decorateRequest('exchange', { getter: exchangeOf })
    this.#cutSlowReaders(config.ANSWER_TIMEOUT)
  }

  #makeApp(): FastifyInstance {
    const { config, log } = this.#options
    const app: FastifyInstance = Fastify({
      serverFactory: (route: Route) => this.#makeNodeServer(route),
      trustProxy: config.TRUST_PROXY.length > 0 && knownGateways(config.TRUST_PROXY),
      // A long path parameter gets the contract's 400, not 414. The HTTP parser bounds the request
      // line.
      routerOptions: { maxParamLength: maxHeaderSize },
      schemaController: { compilersFactory: NO_COMPILERS },
      return503OnClosing: false, // While the server closes, requests are answered, too.
      loggerInstance: log,
      logController: new LogController({ disableRequestLogging: true }),
      // A logger for each request would cost more than its one line, which has the request id
      // anyway.
      childLoggerFactory: (logger) => logger,
      genReqId: (raw) => raw[EXCHANGE]?.id ?? this.#exchanges.idOf(raw),
      rewriteUrl: toRoutable,
      frameworkErrors: (_error, request, reply) => {
        admit(request, reply)
        answerError(BAD_TARGET, request, reply)
      },
      clientErrorHandler: (error, socket) =>
        this.#admission.admit(() => this.#refusals.refuseBytes(error, socket)),
    })
    app.setErrorHandler(answerError)
    app.setNotFoundHandler(() => Promise.reject(NO_SUCH_PATH))
    app.removeAllContentTypeParsers() // only media types of the contract get a parser
    return app
  }

  /** @param timeout in seconds */
  #cutSlowReaders(timeout: number): void {
    const cut = () => this.#exchanges.cutSlowReaders(timeout)
    const timer = setInterval(cut, CHECK_INTERVAL).unref()
    this.app.addHook('preClose', async () => this.#exchanges.finishStreams())
    this.app.addHook('onClose', async () => clearInterval(timer))
  }

  #makeNodeServer(route: Route): Server {
    const { config, maxConnections } = this.#options
    const server = createServer({
      keepAliveTimeout: milliseconds(config.KEEP_ALIVE_TIMEOUT),
      requestTimeout: milliseconds(config.REQUEST_TIMEOUT),
      // Node throws an error if this is longer than requestTimeout.
      headersTimeout: milliseconds(Math.min(config.HEADERS_TIMEOUT, config.REQUEST_TIMEOUT)),
      connectionsCheckingInterval: CHECK_INTERVAL,
      requireHostHeader: false, // Node would answer without a body; `checkRequest` refuses the request.
    })
    server.maxConnections = maxConnections
    server.maxHeadersCount = 0 // Node would silently drop headers above its count; `checkRequest` refuses the request.
    server.setTimeout(milliseconds(config.STALL_TIMEOUT))
    const receive = (request: IncomingMessage, response: ServerResponse) =>
      this.#receive(request, response, route)
    // Without a listener, Node would answer `checkContinue` and `checkExpectation` itself, without
    // an Error body.
    for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, receive)
    server.on('connect', (request) =>
      this.#admission.admit(() => this.#refusals.refuseConnect(request)),
    )
    server.on('drop', () => this.#exchanges.shed())
    return server
  }

  /**
   * Node emits a request as soon as it has read it, but only safe methods may run at the same time
   * (RFC 9112, section 9.3.2). So a request begins when the response before it has ended: then Node
   * gives the socket to its response.
   */
  #receive(request: IncomingMessage, response: ServerResponse, route: Route): void {
    if (response.socket !== null) {
      this.#begin(request, response, route)
      return
    }
    const { socket } = request
    if (this.#addWaiting(socket, 1) > MAX_PIPELINED) socket.destroy()
    // While a request waits, nothing more is read. Paused in the next tick, because Node resumes
    // the socket after a request.
    process.nextTick(() => this.#waiting.get(socket) !== 0 && socket.pause())
    response.once('socket', () => {
      if (this.#addWaiting(socket, -1) === 0) socket.resume()
      this.#begin(request, response, route)
    })
  }

  #addWaiting(socket: Socket, count: number): number {
    const waiting = (this.#waiting.get(socket) ?? 0) + count
    this.#waiting.set(socket, waiting)
    return waiting
  }

  #begin(request: IncomingMessage, response: ServerResponse, route: Route): void {
    // The previous response may have been the last one of the connection (RFC 9112, section 9.6).
    if (!request.socket.writable) return
    if (endsConnection(request)) response.shouldKeepAlive = false
    const exchange = this.#exchanges.begin(request, response)
    this.#admission.admit(
      () => request.socket.writable && route(request, response),
      () => this.#refusals.refuseTooBusy(exchange),
    )
  }
}

function failToCompile(): never {
  fail('a route has a schema')
}

/** Converts seconds. Node accepts only integers. */
const milliseconds = (seconds: number) => Math.round(seconds * 1000)

/**
 * Listens on one address. Fastify would make a second server for a host name with several
 * addresses.
 * @param portName the variable of the port
 * @param path before the operations of the server, for the log
 * @throws {StartupError} naming the host and the port
 */
export async function listen(
  app: FastifyInstance,
  config: Config,
  portName: 'PORT' | 'ADMIN_PORT',
  path = '',
): Promise<void> {
  const { HOST: host, [portName]: port } = config
  try {
    const { address } = await lookup(host, { order: 'ipv4first' })
    await app.listen({
      host: address,
      port,
      listenTextResolver: (origin) => `Server listening at ${origin}${path}`,
    })
  } catch (error) {
    const message = `HOST ${host}, ${portName} ${port}: ${reasonOf(error)}`
    throw new StartupError(message, { cause: error })
  }
}

/**
 * Admission control. A bounded number of requests begins in each turn of the event loop, so that turns stay short, and new
 * connections and health checks are served in time. Other requests wait in order. After too long a wait, a request is refused.
 */
export class Admission {
  readonly #waiting: { since: number; begin: () => void; refuse: () => void }[] = []
  #begun = 0
  #turn: NodeJS.Immediate | undefined

  /**
   * Begins a request, in this turn or a later one, or refuses it. Without `refuse`, it always
   * begins.
   */
  admit(begin: () => void, refuse = begin): void {
    if (this.#begun < MAX_BEGUN) {
      this.#begun += 1
      // Scheduling a turn costs more than beginning most requests, so a quiet server rarely does
      // it.
      if (this.#begun > MAX_BEGUN / 2) this.#scheduleTurn()
      begin()
    } else if (this.#waiting.length < MAX_WAITING) {
      this.#waiting.push({ since: performance.now(), begin, refuse })
    } else refuse()
  }

  #scheduleTurn(): void {
    this.#turn ??= setImmediate(() => this.#runTurn())
  }

  #runTurn(): void {
    this.#turn = undefined
    this.#begun = 0
    if (this.#waiting.length === 0) return
    this.#scheduleTurn()
    const oldest = performance.now() - WAIT_TIMEOUT
    const inTime = this.#waiting.findIndex(({ since }) => since > oldest)
    const late = inTime === -1 ? this.#waiting.length : inTime
    for (const { refuse } of this.#waiting.splice(0, Math.min(late, MAX_REFUSED))) refuse()
    const turn = this.#waiting.splice(Math.max(0, late - MAX_REFUSED), MAX_BEGUN)
    this.#begun = turn.length
    for (const { begin } of turn) begin()
  }
}
