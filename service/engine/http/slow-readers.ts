import type { FastifyBaseLogger } from 'fastify'
import type { OpenRequest } from './open-requests.ts'

/** Breaks off the responses that clients read too slowly. Call it at intervals. @param timeout in seconds */
export function cutSlowReaders(all: Iterable<OpenRequest>, timeout: number, log: FastifyBaseLogger): void {
  for (const open of all) {
    const { fastify, response } = open
    if (response.closed || !response.headersSent) continue
    open.answeredSince ??= performance.now()
    if (performance.now() - open.answeredSince < timeout * 1000) continue
    log.warn(
      { reqId: fastify?.request.id, reason: 'the client did not take the answer in time' },
      'response broken off',
    )
    response.destroy()
  }
}
