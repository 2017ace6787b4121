import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP, type Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { standardHeaders } from './protocol.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The requests that this server is answering. */
    readonly openRequests: OpenRequests
  }
}

/** A request that is being answered, until its response is closed. */
export interface OpenRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** When it began, by `performance.now()`. */
  readonly start: number
  /** Fastify's request, and the address of the client; absent if the request was refused before Fastify got it. */
  fastify?: { readonly request: FastifyRequest; readonly client: string | undefined }
  /** The status of an answer that was written directly to the socket. */
  status?: number
  /** When `cutSlow` first saw that the response had begun. */
  answering?: number
}

/** A refusal of malformed bytes, or of CONNECT: there is no open request for it. */
export interface Refused {
  readonly id: string
  readonly status: number
  readonly method?: string | undefined
  /** The fault that the HTTP parser found: https://nodejs.org/api/http.html#event-clienterror */
  readonly code?: string | undefined
}

interface Events {
  start: [OpenRequest]
  end: [OpenRequest]
  refused: [Refused]
}

/** The requests that a server is answering: at most one on each connection. */
export class OpenRequests extends EventEmitter<Events> {
  readonly #open = new Set<OpenRequest>()
  readonly #latest = new WeakMap<Socket, OpenRequest>()
  #isDraining = false

  add(request: IncomingMessage, response: ServerResponse): void {
    const open = { request, response, start: performance.now() }
    this.#open.add(open)
    this.#latest.set(request.socket, open)
    if (this.#isDraining) response.shouldKeepAlive = false
    response.once('close', () => {
      this.#open.delete(open)
      this.emit('end', open)
    })
    this.emit('start', open)
  }

  /** The latest request of a connection. It may have ended. */
  latest(socket: Socket): OpenRequest | undefined {
    return this.#latest.get(socket)
  }

  /** Makes each response from now on the last one of its connection (RFC 9112, section 9.6). */
  drain(): void {
    this.#isDraining = true
    for (const { response } of this.#open) response.shouldKeepAlive = false
  }

  /** Breaks off responses that clients read too slowly. Call it at intervals. @param timeout in milliseconds */
  cutSlow(timeout: number, log: FastifyBaseLogger): void {
    const now = performance.now()
    for (const open of this.#open) {
      if (open.response.headersSent) open.answering ??= now
      if (now - (open.answering ?? now) < timeout) continue
      log.error(
        { reqId: open.fastify?.request.id, err: new Error('the client did not take the answer in time') },
        'response broken off',
      )
      open.response.destroy()
    }
  }
}

/** Sets the headers of every response, and adds Fastify's request to the open request. The first `onRequest` hook. */
export function startRequest(request: FastifyRequest, reply: FastifyReply, done?: () => void): void {
  reply.headers(standardHeaders(request.id))
  const open = request.server.openRequests.latest(request.raw.socket)
  if (open !== undefined) open.fastify = { request, client: clientAddress(request) }
  done?.()
}

/** The address of the client, as long as its connection is open. A gateway may pass on any text as the address. */
function clientAddress({ ip, socket }: FastifyRequest): string | undefined {
  return ip === socket.remoteAddress || isIP(ip) !== 0 ? ip : undefined
}
