import { globSync, readFileSync } from 'node:fs'
import t from 'tap'
import { layersOf } from './profile.ts'
import { published } from './report.ts'
import { bareFastify, casesOf, measure, serviceOn, start, tunedOn } from './servers.ts'
import { type Call, request } from '../support/servers/start-product.ts'

const SIZES = { small: 1000, many: 100 }
const cases = casesOf(SIZES)
const folder = t.testdir()
const service = await serviceOn('service', `sqlite:${folder}/service.db`, SIZES)
const prepared = [bareFastify(SIZES), service, tunedOn(service, `${folder}/tuned.db`)]
const servers = await Promise.all(
  prepared.map((server) => start(t, server, `${folder}/${server.name}.log`)),
)

t.test('the program written by hand answers as the service does', async (t) => {
  const [, service, tuned] = servers
  if (!service || !tuned) throw new TypeError('nothing was started')
  const [token = ''] = service.tokens.creator
  const json = { 'Content-Type': 'application/json' }
  const post = (body: string, headers: Record<string, string> = json) => ({
    method: 'POST',
    path: '/plants',
    token,
    body,
    headers,
  })
  const get = (path: string) => ({ path, token })
  const remove = (id: string) => ({ method: 'DELETE', path: `/plants/${id}`, token })
  const long = 'x'.repeat(256)
  const invalid = ['{}', '[]', '{"id":1}', '{"name":"a"}', '{"id":1,"name":"a","x":1}'].concat(
    ['""', '7', 'null', `"${long}"`].map((name) => `{"id":1,"name":${name}}`),
    ['7', 'null', `"${long}"`].map((tag) => `{"id":1,"name":"a","tag":${tag}}`),
    ['"1"', '1.5', '9223372036854775808'].map((id) => `{"id":${id},"name":"a"}`),
  )
  const requests: Call[] = [
    ...invalid.map((body) => post(body)),
    ...['1', '9007199254740993', '-9223372036854775808', '9223372036854775807'].flatMap((id) => [
      post(`{"id":${id},"name":"\u{1f331}${id}"}`),
      post(`{"id":${id},"name":"\u{1f331}${id}"}`),
      post(`{"id":${id},"name":"b","tag":""}`),
    ]),
    post(`{"id":1,"name":"${'x'.repeat(17_000)}"}`),
    post('{"id":1,"name":"a"}', { 'Content-Type': 'text/plain' }),
    ...['', '?limit=1', '?limit=1&cursor=gAAAAAAAAAA', '?cursor=AAAAAAAAAAE'].map((query) =>
      get(`/plants${query}`),
    ),
    ...['0', '01', 'x', '2147483648'].map((limit) => get(`/plants?limit=${limit}`)),
    ...['x', '1.0', '9223372036854775808', '7', '1', '1'].map(remove),
    { path: '/plants' },
    { path: '/plants', token: 'plant_1' },
    { path: '/plants', headers: { Authorization: `bearer  ${token}` } },
    { method: 'HEAD', path: '/plants', token },
    get('/nowhere'),
  ]
  const ask = async ({ port }: { readonly port: number }, call: Call) => {
    const headers = { ...(call.headers as object), 'X-Request-Id': 'same' }
    const { status, text, headers: answered } = await request(port, { ...call, headers })
    return [status, text, { ...answered, date: '' }]
  }
  for (const call of requests) {
    const expected = await ask(service, call)
    t.strictSame(await ask(tuned, call), expected, JSON.stringify(call).slice(0, 200))
  }
})

for (const server of servers) {
  t.test(`what ${server.name} answers is right`, async (t) => {
    for (const benchCase of cases) {
      const { rate, p50, p99, cpu } = await measure(server, benchCase, 4)
      t.ok(rate > 0 && cpu >= 0 && p50 > 0 && p50 <= p99)
    }
  })
}

t.test('a wrong status, length or list, or a lost write, makes a run invalid', async (t) => {
  const [bare, service] = servers
  const [, list, create, , remove] = cases
  if (!bare || !service || !list || !create || !remove) throw new TypeError('nothing was started')
  const unsent = new Map([
    ['creator POST', 9e9],
    ['creator DELETE', 8e9],
  ])
  const others = { ...list, answer: list.answer.replaceAll('Plant', 'Tulip') }
  for (const [measured, message] of [
    [() => measure(bare, { ...create, status: 201 }, 4), /: (\d+) of \1 answers were wrong/],
    [() => measure(bare, { ...create, answer: '{}' }, 4), /: (\d+) of \1 answers were wrong/],
    [() => measure(service, others, 4), /: the list is wrong/],
    [() => measure({ ...service, sent: unsent }, remove, 4), /answers were wrong/],
  ] as const) {
    await t.rejects(measured(), { message })
  }
})

t.test('a profile is summed up by layers: native functions count for their callers', (t) => {
  const node = (id: number, functionName: string, url: string, children: number[] = []) => ({
    id,
    callFrame: { functionName, url },
    children,
  })
  const nodes = [
    node(1, '(root)', '', [2, 3, 5, 6]),
    node(2, 'exactJson', 'file:///x/packages/engine/src/http/json.ts', [4]),
    node(3, '(garbage collector)', ''),
    node(4, 'stringify', ''),
    node(5, '(idle)', ''),
    node(6, 'onRequest', 'file:///x/node_modules/fastify/lib/route.js'),
  ]
  const table = layersOf({ nodes, samples: [2, 4, 3, 5, 6], timeDeltas: [20, 30, 25, 900, 25] })
  const rows = ['| JSON | 50.0 % |', '| garbage collector | 25.0 % |', '| Fastify | 25.0 % |']
  t.equal(table, ['| layer | share |', '| --- | --- |', ...rows].join('\n'))
  t.end()
})

t.test(
  'each file of the packages that answer has a layer, and each of their layers has a file',
  (t) => {
    const files = globSync('packages/{engine,json-schema,store}/src/**/*.ts')
    const nodes = files.map((file, id) => ({
      id,
      callFrame: { functionName: 'run', url: `file:///x/${file}` },
    }))
    const table = layersOf({
      nodes,
      samples: nodes.map(({ id }) => id),
      timeDeltas: files.map(() => 1),
    })
    const layers = [...table.matchAll(/^\| (.+) \| .+ % \|$/gm)].map(([, layer = '']) => layer)
    const expected = [
      'JSON',
      'answer',
      'auth',
      'body and parameters',
      'hooks',
      'log',
      'metrics',
      'schema',
      'store',
    ]
    t.strictSame(layers.sort(), expected)
    t.end()
  },
)

t.test('the figures of the README are those of the recorded run', async (t) => {
  for (const [file, text] of Object.entries(published()))
    t.equal(readFileSync(file, 'utf8'), text, file)
})
