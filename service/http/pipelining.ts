import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests that may wait on a connection. Each takes about two kilobytes. */
const MAX_PIPELINED = 128

const waiting = new WeakMap<Socket, number>()

/**
 * Begins a request once the answer before it on its connection has ended: those that write must not run beside each
 * other (RFC 9112, section 9.3.2). Meanwhile no more is read; with too many that were read at once the connection is closed.
 */
export function beginInTurn(request: IncomingMessage, response: ServerResponse, begin: () => void): void {
  const { socket } = request
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
  // Not at once: at the end of a request Node reads on.
  process.nextTick(() => (waiting.get(socket) ?? 0) > 0 && socket.pause())
  // Node gives the response its socket when the one before has ended.
  response.once('socket', () => {
    const left = (waiting.get(socket) ?? 0) - 1
    waiting.set(socket, left)
    if (left === 0) socket.resume()
    begin()
  })
}
