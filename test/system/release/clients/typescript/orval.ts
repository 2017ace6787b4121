import { createPayout, deletePayout, getPayout, type Plant } from './orval.gen.ts'
import { runSession } from './session.ts'

// The base URL is in what was generated: see orval.config.js.
await runSession((_baseUrl, token) => {
  const options = { headers: { Authorization: `Bearer ${token}` } }
  return {
    create: async (plant) => answer(await createPayout(plant, options)),
    list: async (query) => answer(await getPayout(query, options)),
    delete: async (id) => answer(await deletePayout(id, options)),
  }
})

function answer<Answer extends { data: unknown; status: number; headers: Headers }>({ data, status, headers }: Answer) {
  return { status, body: data as Answer['data'], link: headers.get('link') }
}

// @ts-expect-error a name is a string, and neither `any` nor `unknown`
export const name: Plant['name'] = 7
