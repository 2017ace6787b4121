import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import type { Test } from 'tap'
import type { Address } from './history.ts'
import type { Server } from './postgres.ts'
import { startService } from './process.ts'

/** A process of the service, and what may happen to it. */
export interface Replica extends Address {
  /** Ends it as a crash does, and starts another in its place. */
  readonly replace: (milliseconds: number) => Promise<void>
  /** Does not let it run for some time. */
  readonly pause: (milliseconds: number) => Promise<void>
}

/** Starts replicas at once; they end with the test. An operation on the database has one second. */
export async function startReplicas(t: Test, count: number, url: string): Promise<Replica[]> {
  const environment = { DATABASE_URL: url, DATABASE_TIMEOUT: '1', LOG_LEVEL: 'info' }
  return Promise.all(
    Array.from({ length: count }, async () => {
      let service = await startService(t, environment)
      const send = (signal: NodeJS.Signals) => {
        if (service.child.kill(signal)) return
        throw new Error(`a replica ended by itself: ${service.printed.stdout.slice(-2000)}${service.printed.stderr}`)
      }
      return {
        get port() {
          return service.port
        },
        replace: async (milliseconds: number) => {
          send('SIGKILL')
          await once(service.child, 'exit')
          await delay(milliseconds)
          service = await startService(t, environment)
        },
        pause: async (milliseconds: number) => {
          send('SIGSTOP')
          await delay(milliseconds)
          send('SIGCONT')
        },
      }
    }),
  )
}

const milliseconds = fc.integer({ min: 100, max: 1000 })
const which = fc.nat(999)
const all = <What extends string>(...whats: What[]) => fc.shuffledSubarray(whats, { minLength: whats.length })
const plan = fc.record({
  toReplicas: all('replace', 'pause'),
  toServer: all('terminate', 'restart'),
  which,
  milliseconds,
})

/**
 * Lets faults happen to replicas, and to their server at the same time, for some time, and each at least once.
 * When it returns all are over.
 * @param url of the database of the replicas
 * @param seed what happens follows from it
 */
export async function runFaults(
  replicas: readonly Replica[],
  server: Server,
  url: string,
  seed: number,
  seconds: number,
): Promise<void> {
  const end = performance.now() + seconds * 1000
  for (const { toReplicas, toServer, which, milliseconds } of fc.sample(fc.noBias(plan), { seed, numRuns: 1000 })) {
    const replicasFail = async () => {
      for (const what of toReplicas) await replicas[which % replicas.length]?.[what](milliseconds)
    }
    const serverFails = async () => {
      for (const what of toServer) {
        await delay(milliseconds)
        if (what === 'terminate') await terminate(server, url)
        else {
          await server.crash()
          await delay(milliseconds)
          await server.start()
        }
      }
    }
    await Promise.all([replicasFail(), serverFails()])
    if (performance.now() > end) return
  }
}

/** Ends the connections of a database. */
async function terminate(server: Server, url: string): Promise<void> {
  await server.sql(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    url,
  )
}
