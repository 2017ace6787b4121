// Free ports, and small servers and connections on this machine.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Test } from 'tap'

/** Whether this machine has the address ::1. */
export const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
)

/** A port that was free a moment ago, outside of the system's range for connections. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000)
    const server = net.createServer().listen(port, '127.0.0.1')
    const listening = await once(server, 'listening').catch(() => undefined)
    if (listening === undefined) continue
    server.close()
    await once(server, 'close')
    return port
  }
}

/** Serves HTTP on a free port until the test ends. @returns its origin */
export async function serveHttp(t: Test, answer: http.RequestListener): Promise<string> {
  const server = http.createServer(answer)
  t.teardown(() => server.close().closeAllConnections())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`
}

/** Opens a connection to a port of this machine. @returns also the received text, and a promise of the end */
export async function connect(t: Test, port: number) {
  const socket = net.connect(port, '127.0.0.1').setEncoding('utf8')
  t.teardown(() => socket.destroy())
  const state = { text: '', error: '', isEnded: false }
  socket
    .on('data', (text: string) => (state.text += text))
    .on('error', ({ message }) => (state.error = message))
  socket.on('end', () => (state.isEnded = true))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await once(socket, 'connect')
  return { socket, state, closed }
}
