// Waits for a state: a test never waits for a time.
import { setTimeout as delay } from 'node:timers/promises'

/**
 * Waits until a condition is true.
 * @param timeout in milliseconds: by default, more than any machine needs, and less than it takes tap to end the test
 */
export async function eventually(
  isSo: () => boolean | Promise<boolean>,
  report = () => String(isSo),
  timeout = 500_000,
): Promise<void> {
  for (const end = performance.now() + timeout; performance.now() < end;) {
    if (await isSo()) return
    await delay(20)
  }
  throw new Error(`not in ${timeout / 1000} seconds: ${report()}`)
}
