// Replaces the order in which Node begins pipelined requests. Node emits each request as soon as it has read it, so that
// those of one connection run beside each other; HTTP allows that for safe methods only (RFC 9112, section 9.3.2).
// This file can go when Node emits a request after the response before it has ended.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests that may wait on a connection. Each takes about two kilobytes. */
const MAX_PIPELINED = 128

const waiting = new WeakMap<Socket, number>()

/**
 * Begins a request when the response before it on its connection has ended. Until then no more is read from the
 * connection; it is closed if too many requests have been read already.
 */
export function beginInTurn({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): void {
  if (response.socket !== null) {
    begin()
    return
  }
  const count = (waiting.get(socket) ?? 0) + 1
  if (count > MAX_PIPELINED) {
    socket.destroy()
    return
  }
  waiting.set(socket, count)
  // In the next tick, because Node reads on at the end of a request.
  process.nextTick(() => (waiting.get(socket) ?? 0) > 0 && socket.pause())
  // Node gives the response its socket when the response before it has ended.
  response.once('socket', () => {
    const left = (waiting.get(socket) ?? 0) - 1
    waiting.set(socket, left)
    if (left === 0) socket.resume()
    begin()
  })
}
