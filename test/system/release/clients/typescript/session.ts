// The session of each client that is generated in TypeScript. An id is a `number` there, exact up to 2^53.

interface Plant {
  name: string
  tag?: string | undefined
}

interface Answer<Body> {
  readonly status: number
  /** Of success, or the Error. */
  readonly body: Body | { readonly error: number } | undefined
  readonly link?: string | null
}

/** What a driver makes of its client. */
export interface Client {
  create(plant: Plant & { id: number }): Promise<Answer<Plant>>
  list(query: { limit?: number; cursor?: string }): Promise<Answer<Plant[]>>
  delete(id: number): Promise<Answer<unknown>>
}

/** Completes the session and prints it. @param connect makes a client that sends an access token */
export async function runSession(connect: (baseUrl: string, token: string) => Client): Promise<void> {
  const [baseUrl = '', token = '', ...ids] = process.argv.slice(2)
  const [first = 0, second = 0, third = 0, missing = 0] = ids.map(Number)
  const plants = connect(baseUrl, token)
  print(`create ${first}`, await plants.create({ id: first, name: 'Rose', tag: 'garden' }))
  print(`create ${second}`, await plants.create({ id: second, name: 'Aloe vera' }))
  print(`create ${third}`, await plants.create({ id: third, name: '🌱' }))
  print(`create ${third}`, await plants.create({ id: third, name: 'Ficus' }))
  const page = await plants.list({ limit: 2 })
  print('list', page)
  const cursor = /cursor=([\w-]+)>; rel="next"/.exec(page.link ?? '')?.[1] ?? ''
  print('next', await plants.list({ limit: 2, cursor }))
  print('bad cursor', await plants.list({ cursor: 'AAAAAAAAAAB' }))
  for (const id of [missing, first, second, third]) print(`delete ${id}`, await plants.delete(id))
  print('bad token', await connect(baseUrl, 'bad').list({}))
}

function print(step: string, { status, body }: Answer<Plant | Plant[] | unknown>): void {
  const parts = Array.isArray(body) ? body.map(describe) : [describe(body)]
  console.log(`${step}: ${status} ${parts.join(', ')}`.trimEnd())
}

function describe(body: unknown): string {
  const { error, name, tag } = Object(body)
  return error === undefined ? [name, tag].filter(Boolean).join(' ') : `error ${error}`
}
