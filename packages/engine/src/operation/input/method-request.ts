// The request, as the method of an operation gets it.
import type { FastifyRequest } from 'fastify'
import type { Exchange } from '../../http/exchange.ts'
import { traceIdOf } from '../../http/request-log.ts'

/**
 * The validated parameters of a request, by their place; undefined where the operation has none.
 */
export interface RequestParameters {
  readonly path: unknown
  readonly query: unknown
  readonly header: unknown
  readonly cookie: unknown
}

/**
 * The validated body of a request, and its media type where the contract has a range; undefined
 * where there is none.
 */
interface RequestBody {
  readonly body: unknown
  readonly type: string | undefined
}

/** The log of a method. Its lines have the id of the request, the caller and the trace. */
export type MethodLog = Pick<FastifyRequest['log'], 'debug' | 'info' | 'warn' | 'error'>

/** The request for a method. Its scopes, log and signal are made only when they are used. */
export class MethodRequest implements RequestParameters, RequestBody {
  readonly caller: string
  readonly path: unknown
  readonly query: unknown
  readonly header: unknown
  readonly cookie: unknown
  readonly body: unknown
  readonly type: string | undefined
  readonly #exchange: Exchange
  #scopes: ReadonlySet<string> | undefined
  #log: MethodLog | undefined
  #signal: AbortSignal | undefined

  constructor(exchange: Exchange, parameters: RequestParameters, { body, type }: RequestBody) {
    this.caller = exchange.caller
    this.path = parameters.path
    this.query = parameters.query
    this.header = parameters.header
    this.cookie = parameters.cookie
    this.body = body
    this.type = type
    this.#exchange = exchange
  }

  /** The header `Prefer` of a request, for a missing method. */
  static preferOf(input: MethodRequest): string {
    return String(input.#exchange.raw.headers['prefer'] ?? '')
  }

  get scopes(): ReadonlySet<string> {
    this.#scopes ??= new Set(this.#exchange.scopes)
    return this.#scopes
  }

  get log(): MethodLog {
    this.#log ??= logOf(this.#exchange)
    return this.#log
  }

  /**
   * Aborts when the connection closes before the answer is sent: the client has left, or the
   * service ends.
   */
  get signal(): AbortSignal {
    this.#signal ??= signalOf(this.#exchange)
    return this.#signal
  }
}

function logOf({ request, id, caller, raw }: Exchange): MethodLog {
  const traceId = traceIdOf(raw)
  return request.log.child({
    reqId: id,
    ...(caller !== '' && { caller }),
    ...(traceId !== undefined && { trace_id: traceId }),
  })
}

function signalOf(exchange: Exchange): AbortSignal {
  const controller = new AbortController()
  exchange.onEnd(() => {
    const isAnswered = exchange.response.writableFinished
    if (!isAnswered) controller.abort(new Error('the client has left'))
  })
  return controller.signal
}
