import createClient from 'openapi-fetch'
import type { components, paths } from './plant-store.ts'
import { runSession } from './session.ts'

await runSession((baseUrl, token) => {
  const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } })
  return {
    create: async (body) => answer(await client.POST('/plants', { body })),
    list: async (query) => answer(await client.GET('/plants', { params: { query } })),
    delete: async (id) => answer(await client.DELETE('/plants/{id}', { params: { path: { id } } })),
  }
})

function answer<Body>({ data, error, response }: { data?: Body; error?: { error: number }; response: Response }) {
  return { status: response.status, body: data ?? error, link: response.headers.get('link') }
}

// @ts-expect-error a name is a string, and neither `any` nor `unknown`
export const name: components['schemas']['Plant']['name'] = 7
