// Keeps process.nextTick fast for as long as the process runs.
import { executionAsyncResource } from 'node:async_hooks'

const kept: object[] = []

/**
 * Keeps the object that Node makes for a call of `process.nextTick`. All such objects share a hidden class of V8, which is
 * collected whenever none of them is alive. Then the next call makes another class. After a few, V8 gives up to optimize
 * `nextTick`: a call takes 600 ns instead of 90. Without a compile cache, the garbage of the start is enough for this.
 * Call it before anything large is loaded.
 */
export function keepTick(): void {
  process.nextTick(() => kept.push(executionAsyncResource()))
}
