import { once } from 'node:events'
import type http from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { type Config } from '../config.ts'
import { rawResponse } from '../http/errors.ts'
import { requestId, standardHeaders } from '../http/headers.ts'
import { createServer } from '../http/node.ts'
import type { Store } from '../store/store.ts'
import type { Traffic } from '../http/traffic.ts'
import { reasonOf, StartupError } from '../errors.ts'

/** Milliseconds that a probe waits for the store, and that an answer of the store counts. */
const READY_TIMEOUT = 1000
const READY_TTL = 1000

/** Connections are few here; a flood of them must not harm the service. */
const MOST_CONNECTIONS = 100

type Watched = Pick<Store, 'ping' | 'figures'>

/** What is watched. */
interface Parts {
  readonly store: Watched
  readonly traffic: Traffic
}

/** What an admin port answers: a status and a text, which is an error from 400. */
interface Answer {
  readonly status: number
  readonly text: string
  readonly type?: string
}

const OK: Answer = { status: 200, text: 'ok\n' }
const UNAVAILABLE: Answer = { status: 503, text: 'The store is not available' }

/** The port for operators: `/livez`, `/readyz` and `/metrics`. It listens before the service does, and until its end. */
export class Admin {
  readonly #server: http.Server
  readonly #log: FastifyBaseLogger
  #state: 'starting' | 'serving' | 'stopping' = 'starting'
  #parts: Parts | undefined
  /** The outcome of the last ping that has ended, and until when it counts. */
  #readiness = { answer: UNAVAILABLE, until: 0 }
  #ping: Promise<Answer> | undefined
  #metrics: Promise<() => Promise<Answer>> | undefined

  private constructor({ HEADERS_TIMEOUT, REQUEST_TIMEOUT }: Config, log: FastifyBaseLogger) {
    this.#log = log
    this.#server = createServer({
      headersTimeout: HEADERS_TIMEOUT * 1000,
      requestTimeout: REQUEST_TIMEOUT * 1000,
      connectionsCheckingInterval: 250,
      requireHostHeader: false, // probes of HTTP/1.0 have none
    })
    this.#server.maxConnections = MOST_CONNECTIONS
    this.#server.on('request', (request, response) => void this.#serve(request, response))
    this.#server.on('clientError', (error, socket) => {
      if (socket.writable) socket.write(rawResponse(error, requestId({ headers: {} })).text)
      socket.destroy()
    })
  }

  /** Listens where the configuration says. @throws {StartupError} naming the host and the port */
  static async open(config: Config, log: FastifyBaseLogger): Promise<Admin> {
    const { HOST, ADMIN_PORT } = config
    const admin = new Admin(config, log)
    try {
      await once(admin.#server.listen(ADMIN_PORT, HOST), 'listening')
    } catch (error) {
      throw new StartupError(`HOST ${HOST}, ADMIN_PORT ${ADMIN_PORT}: ${reasonOf(error)}`, { cause: error })
    }
    return admin
  }

  /** The service serves from now on. */
  serving(parts: Parts): void {
    this.#parts = parts
    if (this.#state === 'starting') this.#state = 'serving'
    const address = this.#server.address()
    if (address instanceof Object) this.#log.info({ port: address.port }, 'admin port open')
  }

  /** The service is not ready any more. */
  stopping(): void {
    this.#state = 'stopping'
  }

  /** Closes the port, and all its connections. */
  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async #serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const { status, text, type } = await this.#answer(request).catch((err: unknown): Answer => {
      this.#log.error({ err }, 'request to the admin port failed')
      return { status: 500, text: 'Internal Server Error' }
    })
    const isError = status >= 400
    const body = isError ? JSON.stringify({ error: status, message: text }) : text
    response.writeHead(status, {
      ...standardHeaders(requestId(request)),
      'content-type': isError ? 'application/json' : (type ?? 'text/plain; charset=utf-8'),
      'content-length': Buffer.byteLength(body),
      ...(status === 405 && { allow: 'GET, HEAD' }),
      ...(this.#state === 'stopping' && { connection: 'close' }),
    })
    response.end(body)
  }

  async #answer({ method, url = '' }: http.IncomingMessage): Promise<Answer> {
    const answer = {
      '/livez': () => OK,
      '/readyz': () => this.#ready(),
      '/metrics': () => this.#measure(),
    }[url.split('?', 1)[0] ?? '']
    if (answer === undefined) return { status: 404, text: 'There is no such path' }
    if (method !== 'GET' && method !== 'HEAD') return { status: 405, text: `The path has no method ${method}` }
    return answer()
  }

  async #ready(): Promise<Answer> {
    const answer = this.#parts && this.#state === 'serving' ? await this.#ask(this.#parts.store) : OK
    // It may have changed meanwhile.
    return this.#state === 'serving' ? answer : { status: 503, text: `The service is ${this.#state}` }
  }

  /**
   * Asks the store, once for all who want to know at about the same time. While a ping has no outcome the one before
   * counts: a ping fails when requests do, after DATABASE_TIMEOUT, and until then a request may still be answered.
   */
  async #ask(store: Watched): Promise<Answer> {
    if (performance.now() < this.#readiness.until) return this.#readiness.answer
    this.#ping ??= this.#pingOnce(store).finally(() => (this.#ping = undefined))
    const late = delay(READY_TIMEOUT, undefined, { ref: false }).then(() => this.#readiness.answer)
    return Promise.race([this.#ping, late])
  }

  async #pingOnce(store: Watched): Promise<Answer> {
    const answer = await store.ping().then(
      () => OK,
      (err: unknown) => {
        this.#log.warn({ err }, 'the store does not answer a probe')
        return UNAVAILABLE
      },
    )
    this.#readiness = { answer, until: performance.now() + READY_TTL }
    return answer
  }

  async #measure(): Promise<Answer> {
    if (this.#parts === undefined) return { status: 503, text: `The service is ${this.#state}` }
    this.#metrics ??= loadMetrics(this.#parts)
    return (await this.#metrics)()
  }
}

async function loadMetrics({ traffic, store }: Parts): Promise<() => Promise<Answer>> {
  const { Metrics } = await import('./metrics.ts')
  const metrics = new Metrics(traffic, store)
  return async () => ({ status: 200, text: await metrics.text(), type: metrics.contentType })
}
