import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { standardHeaders } from './headers.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The requests that this server is answering. */
    readonly openRequests: OpenRequests
  }
}

/** A request whose turn on its connection has come. It is over when its response is closed. */
export interface OpenRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** When it began, by `performance.now()`. */
  readonly start: number
  /** What Fastify made of it; absent if it was refused before. */
  fastify?: { readonly request: FastifyRequest; readonly client: string }
  /** The status that was written on the bare socket, if it was. */
  status?: number
  /** When its answer was first seen to be under way. */
  answering?: number
}

/** What was refused before there was a request. */
export interface Refused {
  readonly id: string
  readonly status: number
  readonly method?: string | undefined
  /** What the HTTP parser found: https://nodejs.org/api/http.html#event-clienterror */
  readonly code?: string | undefined
}

interface Events {
  start: [OpenRequest]
  end: [OpenRequest]
  refused: [Refused]
}

/** The requests that a server is answering: one on each connection. */
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

  /** The latest request of a connection, which may be over. */
  latest(socket: Socket): OpenRequest | undefined {
    return this.#latest.get(socket)
  }

  /** From now on each answer is the last one of its connection (RFC 9112, section 9.6). */
  drain(): void {
    this.#isDraining = true
    for (const { response } of this.#open) response.shouldKeepAlive = false
  }

  /** Breaks off what its client has not taken in time. To be called now and then. @param timeout in milliseconds */
  cutLate(timeout: number, log: FastifyBaseLogger): void {
    const now = performance.now()
    for (const open of this.#open) {
      if (open.response.headersSent) open.answering ??= now
      if (now - (open.answering ?? now) < timeout) continue
      log.error({ reqId: open.fastify?.request.id, err: new Error('not taken in time') }, 'response broken off')
      open.response.destroy()
    }
  }
}

/** Gives a response the headers that all have, and its request the place in the log. The first `onRequest` hook. */
export function startRequest(request: FastifyRequest, reply: FastifyReply, done?: () => void): void {
  reply.headers(standardHeaders(request.id))
  const open = request.server.openRequests.latest(request.raw.socket)
  // The address is known as long as there is a connection.
  if (open !== undefined) open.fastify = { request, client: request.ip }
  done?.()
}
