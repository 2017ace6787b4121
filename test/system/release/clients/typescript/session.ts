// The session of the clients in TypeScript. An id is a `number` there, exact up to 2^53.
import createOpenapiFetch from 'openapi-fetch'
import { createClient } from './hey-api/client/index.js'
import { createPayout, deletePayout, getPayout, type Plant } from './hey-api/index.js'
import type { components, paths } from './plant-store.ts'

/** The answer of either client: data of success, or the Error. */
interface Answer<Data> {
  readonly data?: Data
  readonly error?: { readonly error: number }
  readonly response?: Response
}

/** A generated client with an access token. */
interface Client {
  create(body: Plant & { id: number }): Promise<Answer<Plant>>
  list(query: { limit?: number; cursor?: string }): Promise<Answer<Plant[]>>
  delete(id: number): Promise<Answer<unknown>>
}

const clients: Readonly<Record<string, (baseUrl: string, token: string) => Client>> = {
  'openapi-fetch': (baseUrl, token) => {
    const client = createOpenapiFetch<paths>({
      baseUrl,
      headers: { Authorization: `Bearer ${token}` },
    })
    return {
      create: (body) => client.POST('/plants', { body }),
      list: (query) => client.GET('/plants', { params: { query } }),
      delete: (id) => client.DELETE('/plants/{id}', { params: { path: { id } } }),
    }
  },
  'hey-api': (baseUrl, token) => {
    const client = createClient({ baseUrl, auth: token })
    return {
      create: (body) => createPayout({ client, body }),
      list: (query) => getPayout({ client, query }),
      delete: (id) => deletePayout({ client, path: { id } }),
    }
  },
}

// @ts-expect-error a name is a string, and neither `any` nor `unknown`
export const nameOfHeyApi: Plant['name'] = 7
// @ts-expect-error the same
export const nameOfOpenapiFetch: components['schemas']['Plant']['name'] = 7

const [name = '', baseUrl = '', token = '', ...ids] = process.argv.slice(2)
const [first = 0, second = 0, third = 0, missing = 0] = ids.map(Number)
const connect = clients[name] ?? (() => process.exit(1))
const plants = connect(baseUrl, token)
print(`create ${first}`, await plants.create({ id: first, name: 'Rose', tag: 'garden' }))
print(`create ${second}`, await plants.create({ id: second, name: 'Aloe vera' }))
print(`create ${third}`, await plants.create({ id: third, name: '🌱' }))
print(`create ${third}`, await plants.create({ id: third, name: 'Ficus' }))
const page = await plants.list({ limit: 2 })
print('list', page)
const cursor =
  /cursor=([\w-]+)>; rel="next"/.exec(page.response?.headers.get('link') ?? '')?.[1] ?? ''
print('next', await plants.list({ limit: 2, cursor }))
print('bad cursor', await plants.list({ cursor: 'AAAAAAAAAAB' }))
for (const id of [missing, first, second, third]) print(`delete ${id}`, await plants.delete(id))
print('bad token', await connect(baseUrl, 'bad').list({}))

function print(step: string, { data, error, response }: Answer<unknown>): void {
  const found = [data ?? []].flat().map((each) => {
    const { name, tag } = Object(each)
    return [name, tag].filter(Boolean).join(' ')
  })
  const what = error === undefined ? found.join(', ') : `error ${error.error}`
  console.log(`${step}: ${response?.status} ${what}`.trimEnd())
}
