import { readFileSync } from 'node:fs'
import t from 'tap'
import { casesOf, measure } from './cases.ts'
import { published, recorded } from './report.ts'
import { bareFastify, serviceOnSqlite, start, straightforward } from './servers.ts'

const SIZES = { small: 1000, many: 100 }
const cases = casesOf(SIZES.small, SIZES.many)
const { create, list } = cases

const folder = t.testdir()
const prepared = [
  bareFastify(SIZES),
  await serviceOnSqlite(`${folder}/service.db`, SIZES),
  straightforward(`${folder}/straightforward.db`, SIZES),
]
const servers = await Promise.all(prepared.map((server) => start(server, folder)))
t.teardown(() => Promise.all(servers.map((server) => server.stop())))

for (const server of servers) {
  t.test(`what ${server.name} answers and keeps is right`, async (t) => {
    for (const each of Object.values(cases)) {
      const { rate, p50, p99, cpu } = await measure(server, each, 4)
      t.ok(rate > 0 && cpu >= 0 && p50 > 0 && p50 <= p99)
    }
  })
}

t.test('a lost write, a wrong status, length or list makes a run invalid', async (t) => {
  const [bare, service] = servers
  if (bare === undefined || service === undefined) throw new TypeError('nothing was started')
  const forgetful = { ...bare, count: async () => 0 }
  const others = { ...list, answer: list.answer.replaceAll('Plant', 'Tulip') }
  for (const [measured, message] of [
    [() => measure(forgetful, create, 4), /: of \d+ writes 0 were kept/],
    [() => measure(bare, { ...create, status: 201 }, 4), /: (\d+) of \1 answers were wrong/],
    [() => measure(bare, { ...create, answer: '{}' }, 4), /: (\d+) of \1 answers were wrong/],
    [() => measure(service, others, 4), /: the list is wrong/],
  ] as const) {
    await t.rejects(measured(), { message })
  }
})

t.test('the tables and the figures of the READMEs are those of the recorded run', async (t) => {
  for (const [file, text] of Object.entries(published(recorded()))) t.equal(readFileSync(file, 'utf8'), text, file)
})
