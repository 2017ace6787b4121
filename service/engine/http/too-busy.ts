import type { FastifyBaseLogger } from 'fastify'
import { HttpError } from '../errors.ts'
import { Counter, OWN } from './metrics.ts'

export const TOO_BUSY = new HttpError(503, 'The service is too busy, try again later', { 'retry-after': '1' })

const SHED = new Counter({ name: `${OWN}shed_requests_total`, help: 'Requests refused because there were too many' })
/** Milliseconds between two log lines that count refusals. A line for each refusal would be too much load. */
const LOG_INTERVAL = 1000

/**
 * Makes the function that counts a request, or a connection, that is refused because there are too many. It takes the
 * reason for the log, if there is more to say than that.
 */
export function shedCounter(log: FastifyBaseLogger, isMeasured: boolean): (reason?: string) => void {
  let refused = 0
  let firstReason: string | undefined
  return (reason) => {
    if (isMeasured) SHED.inc()
    firstReason ??= reason
    if (refused++ > 0) return
    setTimeout(() => {
      log.warn({ msg: 'too busy', refused, reason: firstReason })
      refused = 0
      firstReason = undefined
    }, LOG_INTERVAL).unref()
  }
}
