import { casesOf, measure, type Sample } from './cases.ts'
import { type Running, start } from './running.ts'
import type { Server } from './servers.ts'

/** How many plants the caller has whose lists are measured. */
export const SMALL = 10_000
const CONNECTIONS = [1, 32]

/** What one server did in one round. */
export interface Round {
  /** By case. */
  readonly samples: Readonly<Record<string, Sample>>
  /** Milliseconds from its start to the first authorized answer. */
  readonly coldStart: number
  /** Bytes of memory, before the first case and after the last one. */
  readonly memoryAfterStart: number
  readonly memoryAfterRun: number
}

/**
 * Measures servers in turn, again and again. In each round all start again: some starts are faster than others, for as
 * long as they run. Each server is the first one in every second round.
 * @param many how many callers with 20 plants there are; if none, they are not measured
 * @returns what each server did, by round
 */
export async function measureRounds(
  servers: readonly Server[],
  rounds: number,
  many: number,
  folder: string,
): Promise<Record<string, Round>[]> {
  const { list, create, inTurn, ...others } = casesOf(SMALL, many)
  const cases = [list, ...(many > 0 ? [inTurn] : []), create, ...Object.values(others)]
  for (const server of servers) {
    const filling = await start(server, folder)
    await measure(filling, { ...create, caller: 'small' }, 32, { most: SMALL, seconds: 60 })
    await filling.stop()
  }
  return Array.fromAsync({ length: rounds }, async (_, round) => {
    const running: Running[] = []
    try {
      for (const server of round % 2 === 0 ? servers : servers.toReversed()) running.push(await start(server, folder))
      const states = running.map((server) => {
        const samples: Record<string, Sample> = {}
        return { server, memory: server.memory(), samples }
      })
      for (const each of [list, create]) for (const server of running) await measure(server, each, 32) // to get warm
      for (const each of cases) {
        for (const connections of CONNECTIONS) {
          const name = `${each.name}, ${connections} ${connections === 1 ? 'connection' : 'connections'}`
          for (const { server, samples } of states) samples[name] = await measure(server, each, connections)
        }
      }
      console.log(`round ${round + 1} of ${rounds}`)
      return Object.fromEntries(
        states.map(({ server, memory, samples }) => [
          server.name,
          { samples, coldStart: server.started, memoryAfterStart: memory, memoryAfterRun: server.memory() },
        ]),
      )
    } finally {
      for (const server of running) await server.stop()
    }
  })
}

/** The figure in the middle. */
export function median(figures: readonly number[]): number {
  return figures.toSorted((one, two) => one - two)[Math.floor(figures.length / 2)] ?? NaN
}
