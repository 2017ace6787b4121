// The door: the tests from a contract, a service for tests of methods over HTTP, and the runner of test files.
import type { Product } from '@plant-store/engine'
import type { Answer, Call } from './http/call.ts'
import type { RunOptions } from './run/run-tests.ts'

export type { Answer, Call, RunOptions }

/** Variables of the environment, such as `DATABASE_URL`. */
export type Environment = Readonly<Record<string, string>>

/** The methods of a test of tap which a service needs. tap's type would need the declarations of React. */
export interface Owner {
  /** Makes a folder for the time of the test. */
  testdir(): string
  /** Calls a function after the test. */
  teardown(end: () => unknown): void
}

/** A service in the process of a test, on a new store. */
export interface StartedProduct {
  readonly port: number
  /** The lines of its log. */
  readonly log: readonly Readonly<Record<string, unknown>>[]
  /**
   * Issues an access token.
   * @param lifetime in milliseconds
   * @param scopes by default all scopes of the contract
   */
  readonly token: (caller: string, lifetime?: number, scopes?: readonly string[]) => Promise<string>
  /** Sends a request. An undocumented answer and a 500 fail the test. */
  readonly call: (request: Call) => Promise<Answer>
}

// The runner loads no test, and a test no runner.
/**
 * Runs the tests from the contract of a product: its examples, valid and invalid input of all operations, credentials,
 * methods, and whether each answer is documented. By default they run on SQLite.
 * @example
 * ```ts
 * import { testContract } from '@plant-store/testing'
 * import { product } from '../service/product.ts'
 *
 * await testContract(product)
 * ```
 */
export const testContract = async (product: Product, environment?: Environment): Promise<void> =>
  (await import('./tests/test-contract.ts')).testContract(product, environment)
/**
 * Starts a product for a test of its methods over HTTP. It ends with the test.
 * @example
 * ```ts
 * import { startProduct } from '@plant-store/testing'
 * import t from 'tap'
 * import { product } from '../service/product.ts'
 *
 * const { call, token } = await startProduct(t, product)
 * const { status } = await call({ path: '/notes/7', token: await token('ann') })
 * t.equal(status, 404)
 * ```
 */
export const startProduct = async (
  t: Owner,
  product: Product,
  environment: Environment = {},
): Promise<StartedProduct> => {
  const { openStoreOf, startService } = await import('./service/start.ts')
  const openStore = openStoreOf.bind(undefined, product)
  return startService(t, { product, environment, openStore })
}
/**
 * `npm test`: runs the test files named on the command line, or all, and prints failures. After all files it names each status
 * in the contract of `service/product.ts` without a test. The command `test-service` does this.
 * @example
 * ```ts
 * import { runTests } from '@plant-store/testing'
 *
 * await runTests({ first: /long\.test\.ts$/ })
 * ```
 */
export const runTests = async (options?: RunOptions): Promise<void> =>
  (await import('./run/run-tests.ts')).runTests(options)
