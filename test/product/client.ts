import createClient, { type Client } from 'openapi-fetch'
import type { Test } from 'tap'
import type { paths } from '../../service/contract.gen.ts'
import { product } from '../../service/product.ts'
import { contractOf } from '../support/contract.ts'
import { assertDocumented } from '../support/documented.ts'
import { build } from '../support/helper.ts'
import { stringify } from '../support/json.ts'

/** Starts the service, and makes typed clients of it: only requests of the contract compile. An int64 is a `bigint`. */
export async function start(t: Test) {
  const service = await build(t, {}, product)
  return { ...service, client: (token: string) => createPlantClient(service.port, token) }
}

/** Makes a client. It throws if the contract does not document an answer. */
function createPlantClient(port: number, token: string): Client<paths> {
  return createClient<paths>({
    baseUrl: `http://127.0.0.1:${port}`,
    headers: { Authorization: `Bearer ${token}` },
    bodySerializer: stringify,
    fetch: async (request) => {
      const response = await fetch(request)
      const text = await response.clone().text()
      const answer = { status: response.status, headers: Object.fromEntries(response.headers), text }
      const { pathname, search } = new URL(request.url)
      assertDocumented(contractOf(product), request.method, pathname + search, answer)
      return response
    },
  })
}
