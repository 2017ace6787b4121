// No caller sees, changes or detects another caller's plants, on each kind of store.
import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { build, type Call, type Service } from '../../../../test/support/servers/start-product.ts'
import { range } from '../../../../test/support/stores/store-engines.ts'
import { cursorOf } from '../../../../test/support/stores/read-page.ts'
import { openDatabases } from '../../../../test/support/postgres/server.ts'
import { exchange } from '../../../../test/support/inner/responses.ts'

const postgres = await openDatabases(t)

const stores = { sqlite: {}, postgres: { DATABASE_URL: await postgres.createDatabase() } }
for (const [kind, environment] of Object.entries(stores)) {
  t.test(`a service on a store of the kind ${kind}`, async (t) => {
    const service = await build(t, environment)
    t.test("the answer to another's id is the same as to an unknown id, byte for byte", (t) =>
      foreignIds(t, service),
    )
    t.test('nothing that one caller does changes an answer to another', () => otherCallers(service))
  })
}

/** Each makes a function for making a request about a plant. */
function at(method: string) {
  return (id: bigint) => ({ method, path: `/plants/${id}`, body: '' })
}
function create(name: string) {
  return (id: bigint) => ({
    method: 'POST',
    path: '/plants',
    body: `{"id":${id},"name":"${name}"}`,
  })
}
function list(query: string) {
  return (id: bigint) => ({
    method: 'GET',
    path: `/plants?${query}cursor=${cursorOf(id)}`,
    body: '',
  })
}

/** Requests with an id, in their order. */
const ASKED = [
  ...['DELETE', 'DELETE', 'PUT', 'GET', 'HEAD'].map(at),
  ...['x', 'x', 'y'].map(create), // again, and otherwise
  ...[at('DELETE'), list(''), list('limit=1&')],
]

/** The number of owners. Each asks for the plants of all others. */
const OWNERS = process.env['LONG'] === '1' ? 20 : 8

async function foreignIds(t: Test, { call, port, token: issue }: Service): Promise<void> {
  const owners: { token: string; id: bigint; plant: { name: string; tag: string } }[] = []
  for (const index of range(OWNERS)) {
    const [token, id] = [
      await issue(`owner${index}`),
      -(2n ** 63n) + BigInt(index) * (2n ** 64n / BigInt(OWNERS)),
    ]
    const plant = { name: `secret${index}.`, tag: 'of its owner' }
    await call({ method: 'POST', path: '/plants', token, body: { id, ...plant } })
    owners.push({ token, id, plant })
  }
  for (const asking of owners) {
    const others = owners.filter((owner) => owner !== asking)
    for (const [place, ask] of ASKED.entries()) {
      const { method, path } = ask(0n)
      const what = `${place}: ${method} ${path}`
      const ids = others.map(({ id }) => id)
      const foreign = await bytesOf(port, asking.token, ids.map(ask))
      const free = await bytesOf(port, asking.token, ids.map((id) => id + 1n).map(ask))
      t.equal(foreign.length, others.length, what)
      t.strictSame(foreign, free, what)
      for (const { plant } of others)
        t.notOk(foreign.join('').includes(plant.name), `${what}: ${plant.name}`)
    }
  }
  for (const { token, plant } of owners)
    t.strictSame((await call({ path: '/plants', token })).json, [plant])
}

/** The complete answers to requests on one connection, without dates and request ids. */
async function bytesOf(
  port: number,
  token: string,
  requests: readonly ReturnType<ReturnType<typeof create>>[],
) {
  const headers = `Host: plants\r\nAuthorization: Bearer ${token}\r\nX-Request-Id: same\r\nContent-Type: application/json\r\n`
  const parts = requests.map(({ method, path, body }, index) => {
    const connection = index === requests.length - 1 ? 'close' : 'keep-alive'
    const lines = `Connection: ${connection}\r\nContent-Length: ${body.length}\r\n\r\n`
    return `${method} ${path} HTTP/1.1\r\n${headers}${lines}${body}`
  })
  const answers = String(await exchange(port, parts)).split(/(?=HTTP\/1\.1 )/)
  return answers.map((answer) =>
    answer.replace(/^date: .*\r\n/im, '').replace(/(?<=has the id )-?\d+/, ''),
  )
}

/** Requests for a few plants, so that callers use the same ids. Some are refused. */
const request: fc.Arbitrary<Call> = fc
  .tuple(fc.bigInt(-2n, 2n), fc.constantFrom('Rose', 'Aloe'), fc.nat(9))
  .map(([id, name, kind]): Call => {
    if (kind < 4) return { method: 'POST', path: '/plants', body: { id, name } }
    if (kind < 6) return { method: 'DELETE', path: `/plants/${id}` }
    if (kind === 6) return { path: '/plants' }
    if (kind === 7) return { path: `/plants?limit=2&cursor=${cursorOf(id)}` }
    if (kind === 8) return { method: 'POST', path: '/plants', body: { id, name: '' } }
    return { path: `/plants?limit=${id > 0 ? 500 : 1}` }
  })

/**
 * A caller's plants at the start, above the ids of the requests: their number, and the number of
 * 6-byte characters in each name.
 */
const FILLS = {
  nothing: [0, 0],
  '500 plants of 3 KB': [500, 240],
  '10,000 short plants': [10_000, 0],
} as const
type Fill = keyof typeof FILLS

async function otherCallers({ call, token, store }: Service): Promise<void> {
  let callers = 0
  const newCaller = async (fill: Fill = 'nothing') => {
    const name = `caller${(callers += 1)}`
    const [count, length] = FILLS[fill]
    const long = '\u0001'.repeat(length)
    const plant = (id: number) => ({ name: `${id} ${long}`, tag: long })
    for (let first = 0; first < count; first += 500) {
      await Promise.all(
        range(500).map((n) => store.create(name, BigInt(first + n + 10), plant(first + n))),
      )
    }
    return token(name)
  }
  // Callers with the same plants: the first one asks for them while the third one does, the second
  // one alone.
  const callersOf = async (fill: Fill) =>
    Promise.all([newCaller(fill), newCaller(fill), newCaller(fill)])
  const large = await callersOf('500 plants of 3 KB')
  const many = await callersOf('10,000 short plants')
  const ask = async (token: string, request: Call) => {
    const { status, headers, text } = await call({ ...request, token })
    return { status, text, headers: { ...headers, date: '', 'x-request-id': '' } }
  }
  const steps = fc.array(fc.record({ ofA: fc.boolean(), request }), { maxLength: 30 })
  const check = async (
    sequence: readonly { ofA: boolean; request: Call }[],
    [single, a]: readonly string[],
    b: string,
  ) => {
    const ofB: Promise<unknown>[] = []
    for (const { ofA, request } of sequence) {
      // The requests of B go on at the same time.
      if (!ofA) ofB.push(ask(b, request))
      else {
        const [answer, expected] = [await ask(a ?? '', request), await ask(single ?? '', request)]
        assert.deepEqual(answer, expected)
      }
    }
    await Promise.all(ofB)
  }
  const otherOwner = fc.constantFrom(
    newCaller,
    async () => large[2],
    async () => many[2],
  )
  for (const [numRuns, of] of [
    [60, () => callersOf('nothing')],
    [6, async () => large],
    [6, async () => many],
  ] as const) {
    const property = fc.asyncProperty(steps, otherOwner, async (steps, second) =>
      check(steps, await of(), await second()),
    )
    await fc.assert(property, { numRuns, includeErrorInReport: true })
  }
}
