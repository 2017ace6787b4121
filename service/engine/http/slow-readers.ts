import type { FastifyBaseLogger } from 'fastify'
import type { OpenRequest } from './open-requests.ts'

/** Makes the function that breaks off responses that clients read too slowly. Call it at intervals. @param timeout in seconds */
export function slowReaderCutter(log: FastifyBaseLogger, timeout: number): (all: Iterable<OpenRequest>) => void {
  /** When the function first saw that the response had begun. */
  const begun = new WeakMap<OpenRequest, number>()
  return (all) => {
    const now = performance.now()
    for (const open of all) {
      if (open.response.closed || !open.response.headersSent) continue
      const since = begun.get(open) ?? now
      begun.set(open, since)
      if (now - since < timeout * 1000) continue
      const reason = 'the client did not take the answer in time'
      log.warn({ reqId: open.fastify?.request.id, reason }, 'response broken off')
      open.response.destroy()
    }
  }
}
