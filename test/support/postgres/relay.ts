// A TCP relay between the service and its database. It loses, stalls and cuts connections.
import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'

/** The client ends the session: https://www.postgresql.org/docs/current/protocol-message-formats.html */
const TERMINATE = Buffer.from('X\0\0\0\u0004')

/** The bytes to lose. `ends of requests`: the last bytes of a request, and all bytes after them. */
export type Loss = 'requests' | 'ends of requests' | 'answers' | 'nothing'

/** Starts a TCP relay to a database. @param onRequest gets the bytes for the database */
export async function startRelay(
  t: Pick<Test, 'teardown'>,
  url: string,
  onRequest: (bytes: Buffer) => void = () => undefined,
) {
  const { hostname, port } = new URL(url)
  const pairs = new Set<{ client: net.Socket; server: net.Socket; lost: Set<Loss> }>()
  let loss: Loss = 'nothing'
  let milliseconds = 0
  let endDelay = 0
  let resumed = Promise.withResolvers<undefined>()
  resumed.resolve(undefined)
  const relay = net.createServer({ pauseOnConnect: true, allowHalfOpen: true }, async (client) => {
    await delay(milliseconds)
    await resumed.promise
    const server = net.connect({ port: Number(port), host: hostname, allowHalfOpen: true })
    const pair = { client, server, lost: new Set([loss]) }
    pairs.add(pair)
    const pass = (from: net.Socket, to: net.Socket, what: Loss) => {
      from.on('data', (chunk: Buffer) => {
        if (pair.lost.has(what)) return
        const isCut = what === 'requests' && pair.lost.has('ends of requests')
        if (chunk.equals(TERMINATE)) setTimeout(() => to.write(chunk), endDelay)
        else to.write(isCut ? chunk.subarray(0, -5) : chunk)
        if (isCut) pair.lost.add(what)
      })
      from.on('end', () => {
        if (!pair.lost.has(what)) setTimeout(() => to.end(), endDelay)
      })
      from.on('error', () => undefined)
      from.on('close', () => {
        if (!pair.lost.has(what)) to.destroy()
        if (client.destroyed && server.destroyed) pairs.delete(pair)
      })
    }
    client.on('data', onRequest)
    pass(client, server, 'requests')
    pass(server, client, 'answers')
    client.resume()
  })
  await once(relay.listen(0, '127.0.0.1'), 'listening')
  /** Stalls or resumes: bytes and new connections wait, and none is lost. */
  const stall = (isStalled: boolean) => {
    if (isStalled) resumed = Promise.withResolvers()
    else resumed.resolve(undefined)
    for (const { client, server } of pairs)
      for (const socket of [client, server]) socket[isStalled ? 'pause' : 'resume']()
  }
  /** Cuts all connections. The requests under way may be done, but are not answered. */
  const cut = async () => {
    const open = [...pairs]
    for (const { lost } of open) lost.add('answers')
    await delay(50)
    for (const { client, server } of open) for (const socket of [client, server]) socket.destroy()
  }
  t.teardown(async () => {
    relay.close()
    stall(false)
    await cut()
  })
  const address = new URL(url)
  address.port = String((relay.address() as net.AddressInfo).port)
  return {
    /** The URL of the database over the relay. */
    url: address.href,
    cut,
    stall,
    /** Loses bytes, and the ends of connections, from now on. `nothing` is for new connections: old ones go on losing. */
    lose: (what: Loss) => {
      loss = what
      for (const { lost } of pairs) lost.add(loss)
    },
    /** Delays each new connection. */
    delay: (length: number) => (milliseconds = length),
    /** Delays the end of each connection, as a busy server does. */
    delayEnds: (length: number) => (endDelay = length),
  }
}
