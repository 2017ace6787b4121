// Starts the tests' product, or another one, on a store of the tests.
import type { Test } from 'tap'
import type { Product } from '@plant-store/engine'
import { contractOf } from '../inner/documented.ts'
import type { Answer, Call } from '../../../packages/testing/src/http/call.ts'
import { callAsDocumented } from '../../../packages/testing/src/service/documented-call.ts'
import { startService as startProduct } from '../../../packages/testing/src/service/start.ts'
import { startService } from '../processes/programs.ts'
import { product as own } from '../product/product.ts'
import { openTestStore } from '../stores/open-store.ts'
import { issueTokenIn } from './access-tokens.ts'

export {
  type Answer,
  type Call,
  request,
  statusesOf,
} from '../../../packages/testing/src/http/call.ts'

export type Service = Awaited<ReturnType<typeof build>>

/** Starts a product, by default the tests' product, on a temporary database. Both close when the test ends. */
export function build(t: Test, environment: Record<string, string> = {}, product: Product = own) {
  return startProduct(t, {
    product,
    environment,
    openStore: (config) => openTestStore(config.DATABASE_URL, { settings: config, product }),
  })
}

/** Starts the tests' product as a process, on a new file in which joe has a token. */
export async function startOnNewFile(
  t: Test,
  environment: Record<string, string> = {},
  command?: readonly string[],
) {
  const file = `${t.testdir()}/plants.db`
  const token = await issueTokenIn({ file })
  return {
    ...(await startService(t, { DATABASE_URL: `sqlite:${file}`, ...environment }, command)),
    file,
    token,
  }
}

/** Sends a request to a port. The test fails if the contract does not document the answer. */
export async function call(port: number, what: Call, product: Product = own): Promise<Answer> {
  return callAsDocumented(await contractOf(product), port, what)
}
