import { readFileSync } from 'node:fs'
import t from 'tap'
import { casesOf, measure } from './cases.ts'
import { judge } from './check.ts'
import { published, recorded } from './report.ts'
import { start } from './running.ts'
import { bareFastify, serviceOn, straightforward } from './servers.ts'

const [SMALL, MANY] = [1000, 100]
const cases = casesOf(SMALL, MANY)
const { create, list } = cases

const folder = t.testdir()
const prepared = [
  bareFastify(folder, SMALL, MANY),
  await serviceOn('this service', `sqlite:${folder}/service.db`, folder, MANY),
  straightforward(`${folder}/straightforward.db`, MANY),
]
const servers = await Promise.all(prepared.map((server) => start(server, folder)))
t.teardown(() => Promise.all(servers.map((server) => server.stop())))

for (const server of servers) {
  t.test(`what ${server.name} answers and keeps is right`, async (t) => {
    await measure(server, { ...create, caller: 'small' }, 4, { most: SMALL, seconds: 60 })
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

t.test('the check finds what is worse in nearly all rounds', async (t) => {
  const round = (rate: number, coldStart: number) => {
    const samples = { list: { rate, p50: 1, p99: 1, cpu: 1 } }
    return { samples, coldStart, memoryAfterStart: 0, memoryAfterRun: 0 }
  }
  const before = round(100, 100)
  const rounds = Array.from({ length: 14 }, (_, at) => ({ before, now: round(at < 13 ? 90 : 110, at < 12 ? 110 : 90) }))
  const worse = [...judge(rounds)].filter(([, { isWorse }]) => isWorse).map(([figure]) => figure)
  t.strictSame(worse, ['list: requests per second'])
})

t.test('the tables and the figures of the READMEs are those of the recorded run', async (t) => {
  for (const [file, text] of Object.entries(published(recorded()))) t.equal(readFileSync(file, 'utf8'), text, file)
})
