import { createClient } from './hey-api/client/index.js'
import { createPayout, deletePayout, getPayout, type Plant } from './hey-api/index.js'
import { runSession } from './session.ts'

await runSession((baseUrl, token) => {
  const client = createClient({ baseUrl, auth: token })
  return {
    create: async (body) => answer(await createPayout({ client, body })),
    list: async (query) => answer(await getPayout({ client, query })),
    delete: async (id) => answer(await deletePayout({ client, path: { id } })),
  }
})

function answer<Body>({ data, error, response }: { data?: Body; error?: { error: number }; response?: Response }) {
  return { status: response?.status ?? 0, body: data ?? error, link: response?.headers.get('link') ?? null }
}

// @ts-expect-error a name is a string, and neither `any` nor `unknown`
export const name: Plant['name'] = 7
