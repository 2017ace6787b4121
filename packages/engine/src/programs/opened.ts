// The product's resources: opened before the service listens, and closed before the store.
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { readEnvironment } from '../config.ts'
import type { Opened, Product } from '../define-product.ts'
import { reasonOf, StartupError } from '../errors.ts'
import { type MetricTexts, productMetrics, Registry } from '../http/metrics.ts'

/** Milliseconds for `open` of a product. */
const OPEN_TIMEOUT = 30_000

const isLate = Symbol('late')

/** The result of `open`, and the metrics made by it. */
export interface ProductResources {
  readonly opened: Opened
  readonly metrics: MetricTexts
}

/**
 * Opens the product's resources.
 * @param timeout in milliseconds
 * @throws {StartupError} if `open` fails, does not end in time, or returns no object
 */
export async function openResources(
  { name, open }: Product,
  log: Logger,
  timeout = OPEN_TIMEOUT,
): Promise<ProductResources> {
  const metrics = new Registry()
  if (open === undefined) return { opened: {}, metrics }
  const context = { env: readEnvironment(), log, metrics: productMetrics(name, metrics) }
  const clock = new AbortController()
  const late = delay(timeout, isLate, { signal: clock.signal })
  const opened = await Promise.race([(async () => open(context))(), late])
    .catch((error: unknown) => {
      throw new StartupError(`open of the product ${name}: ${reasonOf(error)}`, { cause: error })
    })
    .finally(() => clock.abort())
  if (opened === isLate)
    throw new StartupError(`open of the product ${name} has not ended in ${timeout / 1000} seconds`)
  assertObject(name, opened)
  return { opened, metrics }
}

/** TypeScript requires an object, but JavaScript may return anything. @throws {StartupError} */
function assertObject(name: string, opened: unknown): void {
  if (typeof opened === 'object' && opened !== null) return
  const message = `open of the product ${name} returned ${String(opened)}: it must return an object, such as {}`
  throw new StartupError(message)
}

/**
 * Closes the product's resources. An error is only logged: the process ends anyway.
 * @param end the time to give up
 */
export async function closeResources(
  { opened }: ProductResources,
  log: Logger,
  end: Promise<unknown>,
): Promise<void> {
  const closing = (async () => opened.close?.())()
  const closed = await Promise.race([closing, end.then(() => isLate)]).catch((err: unknown) => {
    log.warn({ err }, 'close of the product has failed')
  })
  if (closed === isLate) log.warn('close of the product has not ended in time')
}
