// Replicas of the tests' product, and the faults of them and of their database.
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import type { Test } from 'tap'
import type { startRelay } from '../postgres/relay.ts'
import type { Server } from '../postgres/server.ts'
import { MAIN, startService } from '../processes/programs.ts'

/** Starts replicas of the tests' product, or of another one, at the same time. They end with the test. */
export async function startReplicas(t: Test, count: number, url: string, command = MAIN) {
  const environment = { DATABASE_URL: url }
  return Promise.all(
    Array.from({ length: count }, async () => {
      let service = await startService(t, environment, command)
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
          service = await startService(t, environment, command)
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

/** Ends all connections of the server. */
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
