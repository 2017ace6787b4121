import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import type { Test } from 'tap'
import type { Server } from '../postgres/server.ts'
import { startService } from '../processes/programs.ts'

/** What the relay loses. `ends of requests`: the last bytes of a request, and what follows. */
export type Loss = 'requests' | 'ends of requests' | 'answers' | 'nothing'

/** Starts a TCP relay to a database. @param onRequest gets the bytes that are sent to the database */
export async function startRelay(
  t: Pick<Test, 'teardown'>,
  url: string,
  onRequest: (bytes: Buffer) => void = () => undefined,
) {
  const { hostname, port } = new URL(url)
  const pairs = new Set<{ client: net.Socket; server: net.Socket; lost: Set<Loss> }>()
  let loss: Loss = 'nothing'
  let milliseconds = 0
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
        to.write(isCut ? chunk.subarray(0, -5) : chunk)
        if (isCut) pair.lost.add(what)
      })
      from.on('end', () => pair.lost.has(what) || to.end())
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
  }
}

/** Starts replicas of the tests' product at the same time. They end with the test. */
export async function startReplicas(t: Test, count: number, url: string) {
  const environment = { DATABASE_URL: url }
  return Promise.all(
    Array.from({ length: count }, async () => {
      let service = await startService(t, environment)
      const send = (signal: NodeJS.Signals) => {
        if (service.child.kill(signal)) return
        throw new Error(
          `a replica ended by itself: ${service.printed.stdout.slice(-2000)}${service.printed.stderr}`,
        )
      }
      return {
        get port() {
          return service.port
        },
        /** Kills the process, and starts another after some milliseconds. */
        replace: async (milliseconds: number) => {
          send('SIGKILL')
          await once(service.child, 'exit')
          await delay(milliseconds)
          service = await startService(t, environment)
        },
        /** Stops the process for some milliseconds. */
        pause: async (milliseconds: number) => {
          send('SIGSTOP')
          await delay(milliseconds)
          send('SIGCONT')
        },
      }
    }),
  )
}

const words = <What extends string>(...whats: What[]) =>
  fc.shuffledSubarray(whats, { minLength: whats.length })
const plan = fc.record({
  toReplicas: words('replace', 'pause'),
  toServer: words('cut', 'terminate', 'restart'),
  which: fc.nat(999),
  milliseconds: fc.integer({ min: 100, max: 1000 }),
})

/** Ends all connections that the server has. */
const TERMINATE = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`

/** Where faults can happen. */
interface Cluster {
  readonly replicas: Awaited<ReturnType<typeof startReplicas>>
  /** Between the replicas and their server. */
  readonly relay: Awaited<ReturnType<typeof startRelay>>
  readonly server: Server
}

/**
 * Causes faults of the replicas and of their server at the same time, each fault at least once.
 * All faults are over when it returns.
 * @param seed determines the faults
 */
export async function runFaults(
  { replicas, relay, server }: Cluster,
  seed: number,
  seconds: number,
): Promise<void> {
  const end = performance.now() + seconds * 1000
  for (const { toReplicas, toServer, which, milliseconds } of fc.sample(fc.noBias(plan), {
    seed,
    numRuns: 1000,
  })) {
    const happenToServer = {
      cut: relay.cut,
      terminate: () => server.sql(TERMINATE),
      restart: async () => {
        await server.crash()
        await delay(milliseconds)
        await server.start()
      },
    }
    const replicasFail = async () => {
      for (const what of toReplicas) await replicas[which % replicas.length]?.[what](milliseconds)
    }
    const serverFails = async () => {
      for (const what of toServer) {
        await delay(milliseconds)
        await happenToServer[what]()
      }
    }
    await Promise.all([replicasFail(), serverFails()])
    if (performance.now() > end) return
  }
}
