// Replaces Node's order of pipelined requests: here, they run one after the other. Node emits a request as soon as it has
// read it, so they would run at the same time. HTTP allows that for safe methods only (RFC 9112, section 9.3.2).
// This file can go when Node waits for the previous response before it emits a request.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests that may wait on a connection. Each takes about two kilobytes. */
const MAX_PIPELINED = 128

const waiting = new WeakMap<Socket, number>()

/**
 * Begins a request when the previous response on its connection has ended. Until then, nothing more is read from the
 * connection. A connection with too many waiting requests is closed.
 */
export function waitForPrevious({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): void {
  const count = (waiting.get(socket) ?? 0) + 1
  waiting.set(socket, count)
  if (count > MAX_PIPELINED) socket.destroy()
  // In the next tick, because Node continues to read at the end of a request.
  process.nextTick(() => (waiting.get(socket) ?? 0) > 0 && socket.pause())
  response.once('socket', () => {
    const left = (waiting.get(socket) ?? 0) - 1
    waiting.set(socket, left)
    if (left === 0) socket.resume()
    begin()
  })
}
