// The service as one writes it at first, and well: the contract by fastify-openapi-glue, a row for each plant, a commit
// for each write. It has no request log, and its access tokens are in a Map.
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import bearerAuth from '@fastify/bearer-auth'
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import openapiGlue from 'fastify-openapi-glue'

declare module 'fastify' {
  interface FastifyRequest {
    caller: string
  }
}

interface Create {
  Body: { id: number; name: string; tag?: string }
}
interface List {
  Querystring: { limit?: number }
}
interface Delete {
  Params: { id: number }
}

const { FILE = '', TOKENS = '', PORT } = process.env
const db = new DatabaseSync(FILE)
db.exec('PRAGMA synchronous = FULL')
const insert = db.prepare('INSERT INTO plants (owner, id, name, tag) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING')
const select = db.prepare('SELECT name, tag FROM plants WHERE owner = ? ORDER BY id LIMIT ?')
const remove = db.prepare('DELETE FROM plants WHERE owner = ? AND id = ?')

class PlantService {
  async createPayout({ caller, body: { id, ...plant } }: FastifyRequest<Create>, reply: FastifyReply) {
    if (insert.run(caller, id, plant.name, plant.tag ?? null).changes === 1) return plant
    return reply.code(409).send({ error: 409, message: `Another plant has the id ${id}` })
  }

  async getPayout({ caller, query: { limit = -1 } }: FastifyRequest<List>) {
    return select.all(caller, limit).map(({ name, tag }) => (tag === null ? { name } : { name, tag }))
  }

  async deletePayout({ caller, params: { id } }: FastifyRequest<Delete>, reply: FastifyReply) {
    if (remove.run(caller, id).changes === 1) return reply.code(204).send()
    return reply.code(404).send({ error: 404, message: 'No such plant' })
  }
}

const callers = new Map(Object.entries(JSON.parse(readFileSync(TOKENS, 'utf8')) as Record<string, string>))

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
  serviceHandlers: new PlantService(),
})
await app.listen({ port: Number(PORT) })
