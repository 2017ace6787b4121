import { readFileSync } from 'node:fs'
import t from 'tap'
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
  const [list, , create, remove] = cases
  if (!bare || !service || !list || !create || !remove) throw new TypeError('nothing was started')
  const others = { ...list, answer: list.answer.replaceAll('Plant', 'Tulip') }
  for (const [measured, message] of [
    [() => measure(bare, { ...create, status: 201 }, 4), /: (\d+) of \1 answers were wrong/],
    [() => measure(bare, { ...create, answer: '{}' }, 4), /: (\d+) of \1 answers were wrong/],
    [() => measure(service, others, 4), /: the list is wrong/],
    [
      () => measure({ ...service, sent: { GET: 0, POST: 9e9, DELETE: 8e9 } }, remove, 4),
      /answers were wrong/,
    ],
  ] as const) {
    await t.rejects(measured(), { message })
  }
})

t.test('the figures of the README are those of the recorded run', async (t) => {
  for (const [file, text] of Object.entries(published()))
    t.equal(readFileSync(file, 'utf8'), text, file)
})
