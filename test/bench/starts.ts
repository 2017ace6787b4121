import { type Case, measure, type Measured } from './cases.ts'
import type { Load, Loaded } from './load.ts'
import { median, type Results, type Window } from './results.ts'
import { start } from './running.ts'
import type { Server } from './servers.ts'

/** The parts of the time since the start that are measured. Lengths in seconds. */
const WINDOWS = [
  { name: '0 to 1', seconds: 1 },
  { name: '1 to 3', seconds: 2 },
  { name: '3 to 10', seconds: 7 },
  { name: '10 to 12', seconds: 2 },
]

/** Starts the servers in turn, again and again. All were started before, so that they are compiled. */
export async function coldStarts(servers: readonly Server[], folder: string, rounds: number) {
  const starts: { started: number; memory: number }[][] = []
  for (let round = 0; round < rounds; round++) {
    const each = []
    for (const server of servers) {
      const { started, memory, stop } = await start(server, folder)
      each.push({ started, memory: memory() })
      await stop()
    }
    starts.push(each)
  }
  return starts
}

/**
 * Puts a load on new processes, from their first answer on.
 * @param rounds how many processes of each server
 * @returns the medians, by window and server
 */
export async function firstSeconds(
  servers: readonly Server[],
  folder: string,
  load: Case,
  run: (load: Load) => Promise<Loaded>,
  rounds: number,
): Promise<Results['windows']> {
  const windows = new Map(WINDOWS.map(({ name }) => [name, new Map<string, Window>()]))
  for (const server of servers) {
    const samples = new Map(WINDOWS.map(({ name }) => [name, new Array<Measured>()]))
    for (let round = 0; round < rounds; round++) {
      const process = await start(server, folder)
      try {
        for (const { name, seconds } of WINDOWS) {
          samples.get(name)?.push(await measure(process, { ...load, seconds }, 32, run))
        }
      } finally {
        await process.stop()
      }
    }
    for (const [name, of] of samples) {
      const figure = (kind: keyof Window) => median(of.map((sample) => sample[kind]))
      windows.get(name)?.set(server.name, { rate: figure('rate'), p90: figure('p90'), p99: figure('p99') })
    }
  }
  return Object.fromEntries([...windows].map(([name, by]) => [name, Object.fromEntries(by)]))
}
