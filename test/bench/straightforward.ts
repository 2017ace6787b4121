// The service as one writes it at first, and well: the contract by fastify-openapi-glue, a row for each plant, a commit
// for each write. It has no request log, and its access tokens are in a Map.
import { readFileSync } from 'node:fs'
import bearerAuth from '@fastify/bearer-auth'
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import openapiGlue from 'fastify-openapi-glue'

export interface Plant {
  readonly name: string
  readonly tag?: string | null
}

/** The statements of the service; each is one round trip, and each write one commit. */
export interface Database {
  /** @returns whether the owner had no plant of this id */
  readonly insert: (owner: string, id: number, plant: Plant) => Promise<boolean>
  /** @param limit all, if absent */
  readonly select: (owner: string, limit?: number) => Promise<Plant[]>
  /** @returns whether there was one */
  readonly delete: (owner: string, id: number) => Promise<boolean>
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: string
  }
}

interface Create {
  Body: Plant & { id: number }
}
interface List {
  Querystring: { limit?: number }
}
interface Delete {
  Params: { id: number }
}

class PlantService {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async createPayout({ caller, body: { id, ...plant } }: FastifyRequest<Create>, reply: FastifyReply) {
    if (await this.#database.insert(caller, id, plant)) return plant
    return reply.code(409).send({ error: 409, message: `Another plant has the id ${id}` })
  }

  async getPayout({ caller, query: { limit } }: FastifyRequest<List>) {
    const plants = await this.#database.select(caller, limit)
    return plants.map(({ name, tag }) => (tag === null ? { name } : { name, tag }))
  }

  async deletePayout({ caller, params: { id } }: FastifyRequest<Delete>, reply: FastifyReply) {
    if (await this.#database.delete(caller, id)) return reply.code(204).send()
    return reply.code(404).send({ error: 404, message: 'No such plant' })
  }
}

const callers = new Map(
  Object.entries(JSON.parse(readFileSync(process.env['TOKENS'] ?? '', 'utf8')) as Record<string, string>),
)
const url = process.env['DATABASE_URL'] ?? ''
const { open } = await (url.startsWith('postgres:')
  ? import('./straightforward.postgres.ts')
  : import('./straightforward.sqlite.ts'))

const app = Fastify({ ajv: { customOptions: { keywords: ['example'] } } })
app.decorateRequest('caller', '')
await app.register(bearerAuth, {
  keys: [],
  auth: (token, request) => {
    const caller = callers.get(token)
    request.caller = caller ?? ''
    return caller !== undefined
  },
})
await app.register(openapiGlue, {
  specification: 'test/support/product/openapi.yaml',
  serviceHandlers: new PlantService(await open(url)),
})
await app.listen({ port: Number(process.env['PORT']) })
