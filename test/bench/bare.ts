// The upper bound: bare Fastify. Constants, serialized by a schema; no authentication, validation or store.
import Fastify from 'fastify'
import { listOf, PLANT } from './servers.ts'

const plant = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' }, tag: { type: 'string' } },
  additionalProperties: false,
}
const twenty: unknown = JSON.parse(listOf(20))
const plants: unknown = JSON.parse(listOf(Number(process.env['SMALL'])))
const lists = { schema: { response: { 200: { type: 'array', items: plant } } } }

const app = Fastify()
app.get('/plants', lists, async ({ url }) => (url.includes('limit=') ? twenty : plants))
app.post('/plants', { schema: { response: { 200: plant } } }, async () => PLANT)
app.delete('/plants/:id', async (_, reply) => reply.code(204).send())
await app.listen({ port: Number(process.env['PORT']) })
