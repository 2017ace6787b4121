import { lookup } from 'node:dns/promises'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { Config } from '../config.ts'
import { reasonOf, StartupError } from '../errors.ts'
import { Admission } from './admission.ts'
import { answerError } from './errors.ts'
import { requestIds } from './headers.ts'
import { noSuchPath } from './methods.ts'
import { createServer, maxHeaderSize } from './node.ts'
import { OpenRequests, startRequest } from './open-requests.ts'
import { beginInTurn } from './pipelining.ts'
import { endsConnection } from './protocol.ts'
import { refuseBytes, refuseConnect, refuseTooBusy } from './refusals.ts'

/** Milliseconds between two looks at what takes too long. */
const CHECK_INTERVAL = 250

interface Options {
  readonly config: Pick<
    Config,
    'ANSWER_TIMEOUT' | 'HEADERS_TIMEOUT' | 'KEEP_ALIVE_TIMEOUT' | 'REQUEST_TIMEOUT' | 'STALL_TIMEOUT' | 'TRUST_PROXY'
  >
  readonly log: FastifyBaseLogger
  /** Connections that may be open. One more is closed. */
  readonly maxConnections: number
  /** What a request id must not hold, for ids are logged. */
  readonly secret?: RegExp
  /** Called for each request, and each connection, that is refused because there are too many. */
  readonly onTooBusy?: () => void
}

/** Makes an HTTP server: its limits, its errors and its request ids. Every port of the service is one of these. */
export function makeServer({
  config,
  log,
  maxConnections,
  secret,
  onTooBusy = () => undefined,
}: Options): FastifyInstance {
  const openRequests = new OpenRequests()
  const requestId = requestIds(secret ?? /(?!)/)
  const refusing = { openRequests, requestId }
  const admission = new Admission(log, onTooBusy)

  const app = Fastify({
    serverFactory: (route) => listenTo(createServer(timeoutsOf(config)), route),
    trustProxy: config.TRUST_PROXY.length > 0 && [...config.TRUST_PROXY],
    bodyLimit: 16_384, // as the contract says where it declares 413
    // So that a long id gets the contract's 400: the parser bounds the whole request line.
    routerOptions: { maxParamLength: maxHeaderSize },
    // Fastify would load Ajv in two more dialects. Whoever has schemas sets a validator compiler.
    schemaController: { compilersFactory: { buildValidator: () => noValidator } },
    // Requests that arrive while the server closes are answered, too.
    return503OnClosing: false,
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // A logger for each request would cost more than its one line, which has the id of the request.
    childLoggerFactory: (logger) => logger,
    genReqId: requestId,
    frameworkErrors: (error, request, reply) => {
      startRequest(request, reply)
      answerError(error, request, reply)
    },
    clientErrorHandler: (error, socket) => admission.pass(() => refuseBytes(error, socket, refusing)),
  })
  app.decorate('openRequests', openRequests)
  app.setErrorHandler(answerError)
  app.setNotFoundHandler(() => Promise.reject(noSuchPath()))

  const late = setInterval(() => openRequests.cutLate(config.ANSWER_TIMEOUT * 1000, log), CHECK_INTERVAL).unref()
  app.addHook('onClose', async () => clearInterval(late))
  return app

  function listenTo(server: Server, route: (request: IncomingMessage, response: ServerResponse) => void): Server {
    server.maxConnections = maxConnections
    server.maxHeadersCount = 0 // Node would drop what is over its count, silently; checkProtocol refuses it.
    server.setTimeout(milliseconds(config.STALL_TIMEOUT))
    // Without these listeners Node would answer by itself, without an Error.
    for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, take)
    server.on('connect', (request) => admission.pass(() => refuseConnect(request, refusing)))
    server.on('drop', () => admission.countRefusal())
    return server

    function take(request: IncomingMessage, response: ServerResponse): void {
      beginInTurn(request, response, () => {
        // What follows a last answer is not served (RFC 9112, section 9.6).
        if (!request.socket.writable) return
        if (endsConnection(request)) response.shouldKeepAlive = false
        openRequests.add(request, response)
        admission.pass(
          () => request.socket.writable && route(request, response),
          () => refuseTooBusy(request, response, refusing),
        )
      })
    }
  }
}

function noValidator(): never {
  throw new Error('the server has no validator compiler')
}

function timeoutsOf(config: Options['config']) {
  return {
    keepAliveTimeout: milliseconds(config.KEEP_ALIVE_TIMEOUT),
    requestTimeout: milliseconds(config.REQUEST_TIMEOUT),
    // Node wants it to be the shorter one.
    headersTimeout: milliseconds(Math.min(config.HEADERS_TIMEOUT, config.REQUEST_TIMEOUT)),
    connectionsCheckingInterval: CHECK_INTERVAL,
    // Node would answer without a body; checkProtocol does it.
    requireHostHeader: false,
  }
}

/** Node wants integers. */
function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000)
}

/**
 * Listens on one address. Of a name that has several Fastify, or a client, would choose others.
 * @param names of the variables, for the message
 * @throws {StartupError} naming the host and the port
 */
export async function listen(app: FastifyInstance, host: string, port: number, portName: string): Promise<void> {
  try {
    const { address } = await lookup(host, { order: 'ipv4first' })
    await app.listen({ host: address, port })
  } catch (error) {
    throw new StartupError(`HOST ${host}, ${portName} ${port}: ${reasonOf(error)}`, { cause: error })
  }
}
