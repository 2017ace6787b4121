import createClient, { type Client } from 'openapi-fetch'
import type { paths } from '../../service/contract.gen.ts'
import { assertDocumented } from './documented.ts'
import { stringify } from './json.ts'

/** A typed client of the service: only requests of the contract compile. An int64 is a `bigint`. */
export type PlantClient = Client<paths>

/** Makes a client. It throws if the contract does not document an answer. */
export function createPlantClient(port: number, token: string): PlantClient {
  return createClient<paths>({
    baseUrl: `http://127.0.0.1:${port}`,
    headers: { Authorization: `Bearer ${token}` },
    bodySerializer: stringify,
    fetch: async (request) => {
      const response = await fetch(request)
      const text = await response.clone().text()
      const answer = { status: response.status, headers: Object.fromEntries(response.headers), text }
      const { pathname, search } = new URL(request.url)
      assertDocumented(request.method, pathname + search, answer)
      return response
    },
  })
}
