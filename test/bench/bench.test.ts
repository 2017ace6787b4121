import { readFileSync } from 'node:fs'
import t from 'tap'
import { type Case, casesOf, measure } from './cases.ts'
import type { Sizes } from './data.ts'
import { AUTOCANNON, chooseTool } from './load.ts'
import { published } from './report.ts'
import { compared, decay, recorded } from './results.ts'
import { type Running, start } from './running.ts'
import { BARE, bareFastify, serviceOn } from './servers.ts'

const SIZES: Sizes = { small: 100, large: 100, creator: 0, deleter: 50_000 }
const [list, , create, remove] = casesOf(SIZES)

const folder = t.testdir()
const prepared = await serviceOn('SQLite', `sqlite:${folder}/plants.db`, SIZES)
const [service, bare] = [await start(prepared, folder), await start(bareFastify(SIZES), folder)]
t.teardown(() => Promise.all([service.stop(), bare.stop()]))

for (const { name, run } of new Set([AUTOCANNON, chooseTool()])) {
  const measured = (server: Running, each: Case) => measure(server, each, 4, run)

  t.test(`with ${name}, what the service answers and keeps is right`, async (t) => {
    const samples = await Promise.all([list, create, remove].map((each) => measured(service, each)))
    for (const { rate, p50, p99, cpu } of samples) t.ok(rate > 0 && cpu > 0 && p50 > 0 && p50 <= p99)
  })

  t.test(`with ${name}, a lost write, a wrong status and a body too short make a run invalid`, async (t) => {
    const forgetful = { ...bare, count: async () => 0 }
    await Promise.all([
      t.rejects(measured(forgetful, create), { message: /: of \d+ writes 0 were kept/ }),
      t.rejects(measured(bare, { ...create, status: 201 }), { message: /: (\d+) of \1 answers were wrong/ }),
      t.rejects(measured(bare, { ...remove, answer: '{}' }), { message: /: (\d+) of \1 answers were wrong/ }),
    ])
  })
}

t.test('a list of the right length and other plants makes the run invalid', async (t) => {
  const others = { ...list, answer: list.answer.replaceAll('Plant', 'Tulip') }
  await t.rejects(measure(service, others, 4, AUTOCANNON.run), { message: /: the list is wrong/ })
})

t.test('the check names what got more than 15 % worse in comparison with bare Fastify', async (t) => {
  const results = (rate: number, cpu: number, coldStart: number) => {
    const sample = { rate: 100, p50: 1, p99: 2, cpu: 10 }
    const ours = compared([{ ...sample, rate, cpu }], [sample])
    const process = { memoryAfterStart: 0, memoryAfterRun: 0 }
    return {
      ...{ date: '', machine: '', versions: {}, load: '', longList: {} },
      cases: { list: { 'this service': ours, another: compared([{ ...sample, rate: 1 }], [sample]) } },
      processes: { [BARE]: { ...process, coldStart: 100 }, 'this service': { ...process, coldStart } },
    }
  }
  const before = results(50, 20, 200)
  t.strictSame(decay(before, results(44, 22.9, 229)), [])
  t.strictSame(decay(before, results(42, 23.1, 231)), [
    'this service, list: requests per second: 0.42 of bare Fastify, was 0.50',
    'this service, list: processor time: 2.31 of bare Fastify, was 2.00',
    'this service, cold start: 2.31 of bare Fastify, was 2.00',
  ])
})

t.test('the tables, the chart and the figures of the README are those of the recorded run', async (t) => {
  for (const [file, text] of Object.entries(published(recorded()))) t.equal(readFileSync(file, 'utf8'), text, file)
})
