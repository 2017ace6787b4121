import type { FastifyReply, FastifyRequest } from 'fastify'
import { traceIdOf } from '../../http/request-log.ts'
import { untilClosed } from '../../http/until-closed.ts'

/** The validated parts of a request; those that the operation does not have are undefined. */
export interface RequestParts {
  readonly path: unknown
  readonly query: unknown
  readonly header: unknown
  readonly cookie: unknown
  readonly body: unknown
  readonly type: string | undefined
}

/** The log that a method writes to. Its lines have the id of the request, the caller and the trace. */
export type MethodLog = Pick<FastifyRequest['log'], 'debug' | 'info' | 'warn' | 'error'>

/** The request that a method gets. Its log and its signal are made only for a method that uses them. */
export class MethodRequest implements RequestParts {
  readonly caller: string
  readonly path: unknown
  readonly query: unknown
  readonly header: unknown
  readonly cookie: unknown
  readonly body: unknown
  readonly type: string | undefined
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  #log: MethodLog | undefined
  #signal: AbortSignal | undefined

  constructor(request: FastifyRequest, reply: FastifyReply, parts: RequestParts) {
    this.caller = request.caller
    this.path = parts.path
    this.query = parts.query
    this.header = parts.header
    this.cookie = parts.cookie
    this.body = parts.body
    this.type = parts.type
    this.#request = request
    this.#reply = reply
  }

  get log(): MethodLog {
    this.#log ??= logOf(this.#request)
    return this.#log
  }

  /** Aborts when the connection closes before the answer is sent: the client has left, or the service ends. */
  get signal(): AbortSignal {
    this.#signal ??= signalOf(this.#reply)
    return this.#signal
  }
}

function logOf({ log, id, caller, raw }: FastifyRequest): MethodLog {
  const traceId = traceIdOf(raw)
  return log.child({
    reqId: id,
    ...(caller !== '' && { caller }),
    ...(traceId !== undefined && { trace_id: traceId }),
  })
}

function signalOf({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  untilClosed(raw, () => {
    if (!raw.writableFinished) controller.abort(new Error('the client has left'))
  })
  return controller.signal
}
