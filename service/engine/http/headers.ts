import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

type Headers = Pick<IncomingMessage, 'headers'>

const REQUEST_ID = /^[\w.-]{1,64}$/

/**
 * Makes the function that gives a request its id: its `X-Request-Id` if that may be logged, else a new one.
 * @param secret matches what must not be logged
 */
export function requestIds(secret: RegExp): (request: Headers) => string {
  return ({ headers }) => {
    const id = headers['x-request-id']
    return typeof id === 'string' && REQUEST_ID.test(id) && !secret.test(id) ? id : randomUUID()
  }
}

// https://www.w3.org/TR/trace-context/#traceparent-header-field-values; later versions may add fields at the end.
const TRACEPARENT = /^(?!ff|00.{54})[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-|$)/

/** The id of the trace that a request is part of, by its `traceparent`; undefined if that is absent or not valid. */
export function traceId({ headers: { traceparent } }: Headers): string | undefined {
  return typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent)?.[1] : undefined
}

/** The headers of every response. */
export function standardHeaders(id: string): Record<string, string> {
  return { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'x-request-id': id }
}

/** Counts the header lines with a name, in lower case. Node's `headers` hides some repeated ones. */
export function countHeader({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const each = rawHeaders[at]
    if (each?.length === name.length && each.toLowerCase() === name) count += 1
  }
  return count
}
