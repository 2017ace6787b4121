// Shared by the tests of hanging connections: how a store is used meanwhile, and when it must
// answer again.
import type { Test } from 'tap'
import { StoreUnavailable } from '@plant-store/engine/for-store'
import { Pool } from '../../src/postgres/pool.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import type { Server } from '../../../../test/support/postgres/server.ts'
import type { TestStore } from '../../../../test/support/stores/open-store.ts'
import { range } from '../../../../test/support/stores/store-engines.ts'
import { limits, name, open } from './open.ts'

export const succeeds = async (operation: Promise<unknown>) =>
  (await Promise.allSettled([operation]))[0].status === 'fulfilled'

/**
 * Calls all methods of a store at the same time. Fails on any error but StoreUnavailable. @returns
 * whether each succeeded
 */
export async function use(t: Test, store: TestStore, id = 1): Promise<boolean[]> {
  const results = await Promise.allSettled([
    store.create('joe', BigInt(id), name(id)),
    store.delete('joe', BigInt(id + 1)),
    store.list('joe'),
    store.find('joe', BigInt(id)),
    store.ping(),
  ])
  return results.map((result) => {
    if (result.status === 'rejected')
      t.ok(result.reason instanceof StoreUnavailable, String(result.reason))
    return result.status === 'fulfilled'
  })
}

export const ALL = Array<boolean>(5).fill(true)
export const NONE = Array<boolean>(5).fill(false)
export const works = async (t: Test, store: TestStore) => !(await use(t, store)).includes(false)
/**
 * Milliseconds until the service must serve again. It promises a second, or ten after lost packets;
 * this machine may be busy.
 */
export const [AT_ONCE, AFTER_LOSS] = [5000, 15_000]
/** How many times DATABASE_POOL_SIZE the server may count. */
export const MOST = 3

/** Waits until the first operations are answered. Fails after some milliseconds. */
export async function isBack(t: Test, store: TestStore, milliseconds: number): Promise<void> {
  const over = performance.now()
  const answered = async (operation: () => Promise<unknown>) => {
    await eventually(() => succeeds(operation()))
    return performance.now() - over
  }
  const read = answered(() => store.find('joe', 1n))
  const write = answered(() => store.create('joe', 1n, name(1)))
  const times = await Promise.all([read, write])
  t.ok(Math.max(...times) < milliseconds, `it answers after ${times.join(' and ')} ms`)
  await eventually(() => works(t, store))
}

/** Makes a pool, which ends with the test. */
export function poolOf(t: Test, url: string, settings: ReturnType<typeof limits>): Pool {
  const pool = new Pool(url, settings)
  t.teardown(() => pool.end())
  return pool
}

/** A hang: how it begins and ends, and the milliseconds after which the store must answer again. */
export interface Hang {
  readonly what: string
  readonly begin: (on: Opened) => unknown
  readonly end: (on: Opened) => unknown
  /** How often the store is used in each hang. */
  readonly uses: readonly number[]
  /** Whether connections may start in the first hang. */
  readonly isStarting?: boolean
  readonly isBackIn: number
}

type Opened = Awaited<ReturnType<typeof open>>

/** Sizes of pools: one connection for reads and writes, one for each, and several for each. */
export const SIZES = [1, 2, 5]
export const kindOf = (size: number) => (size === 1 ? '1 connection' : `${size} connections`)

export function testHang(t: Test, server: Server, size: number, hang: Hang): void {
  const { what, begin, end, uses, isStarting = false, isBackIn } = hang
  t.test(`${what}: ${kindOf(size)}`, async (t) => {
    const opened = await open(t, server, limits(size, 0.5))
    const { store, most, count } = opened
    for (const [at, times] of uses.entries()) {
      if (!isStarting || at > 0) await eventually(() => works(t, store))
      await begin(opened)
      for (const round of range(times)) t.strictSame(await use(t, store, round + at), NONE)
      await end(opened)
      await isBack(t, store, isBackIn)
      await eventually(async () => (await count()) <= size)
    }
    t.ok(most() <= MOST * size, `${most()} connections`)
  })
}
