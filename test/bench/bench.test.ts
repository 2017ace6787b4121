import { globSync, readFileSync } from 'node:fs'
import t from 'tap'
import { layersOf } from './profile.ts'
import { published } from './report.ts'
import { bareFastify, casesOf, measure, serviceOn, start } from './servers.ts'

const SIZES = { small: 1000, many: 100 }
const cases = casesOf(SIZES)
const folder = t.testdir()
const prepared = [
  bareFastify(SIZES),
  await serviceOn('service', `sqlite:${folder}/service.db`, SIZES),
]
const servers = await Promise.all(
  prepared.map((server) => start(t, server, `${folder}/${server.name}.log`)),
)

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
