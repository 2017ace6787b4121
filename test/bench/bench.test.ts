import { readFileSync } from 'node:fs'
import t from 'tap'
import { casesOf, measure } from './cases.ts'
import { judge } from './check.ts'
import type { Sizes } from './data.ts'
import { published } from './report.ts'
import { recorded } from './results.ts'
import { start } from './running.ts'
import { bareFastify, serviceOn, straightforwardOn } from './servers.ts'

const SIZES: Sizes = { small: 10_000, large: 100, creator: 0, deleter: 50_000, many: 100 }
const cases = casesOf(SIZES)
const [list, , , create, remove] = cases

const folder = t.testdir()
const bare = await start(bareFastify(folder, SIZES), folder)
const service = await start(await serviceOn('SQLite', `sqlite:${folder}/service.db`, folder, SIZES), folder)
const peer = await start(await straightforwardOn('SQLite', `sqlite:${folder}/peer.db`, folder, SIZES), folder)
t.teardown(() => Promise.all([bare, service, peer].map((server) => server.stop())))

for (const server of [bare, service, peer]) {
  t.test(`what ${server.name} answers and keeps is right`, async (t) => {
    for (const { rate, p50, p99, cpu } of await Promise.all(cases.map((each) => measure(server, each, 4)))) {
      t.ok(rate > 0 && cpu >= 0 && p50 > 0 && p50 <= p99)
    }
  })
}

t.test('a lost write, a wrong status, length or list makes a run invalid', async (t) => {
  const forgetful = { ...bare, count: async () => 0 }
  const others = { ...list, answer: list.answer.replaceAll('Plant', 'Tulip') }
  await Promise.all([
    t.rejects(measure(forgetful, create, 4), { message: /: of \d+ writes 0 were kept/ }),
    t.rejects(measure(bare, { ...create, status: 201 }, 4), { message: /: (\d+) of \1 answers were wrong/ }),
    t.rejects(measure(bare, { ...remove, answer: '{}' }, 4), { message: /: (\d+) of \1 answers were wrong/ }),
    t.rejects(measure(service, others, 4), { message: /: the list is wrong/ }),
  ])
})

t.test('the check finds a change of 10 % in noise of 5 %, and fails unchanged code in few runs', async (t) => {
  const alarms = { unchanged: 0, slower: 0 }
  const random = generator()
  /** The ratios of all figures, with noise that is now and then far greater. */
  const gains = (change: number) =>
    new Map(
      Array.from({ length: 34 }, (_, figure) => [
        `figure ${figure}`,
        Array.from({ length: 14 }, () => change * Math.exp((0.05 * (random() - random())) / random())),
      ]),
    )
  for (let run = 0; run < 200; run++) {
    if (judge(gains(1)).some(({ isWorse }) => isWorse)) alarms.unchanged += 1
    if (judge(gains(0.9)).some(({ isWorse }) => isWorse)) alarms.slower += 1
  }
  t.ok(alarms.unchanged < 10, `${alarms.unchanged} of 200`)
  t.equal(alarms.slower, 200)
})

t.test('the tables and the figures of the READMEs are those of the recorded run', async (t) => {
  for (const [file, text] of Object.entries(published(recorded()))) t.equal(readFileSync(file, 'utf8'), text, file)
})

/** A generator of the same random numbers in each run, between 0 and 1 (Park and Miller, https://doi.org/10.1145/63039.63042). */
function generator(): () => number {
  let state = 1
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
}
