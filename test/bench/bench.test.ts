import { readFileSync } from 'node:fs'
import t from 'tap'
import { type Case, casesOf, measure, NO_ANSWER } from './cases.ts'
import type { Sizes } from './data.ts'
import { judge } from './check.ts'
import { estimate } from './intervals.ts'
import { AUTOCANNON, chooseTool } from './load.ts'
import { published } from './report.ts'
import { recorded } from './results.ts'
import { type Running, start } from './running.ts'
import { bareFastify, serviceOn } from './servers.ts'

const SIZES: Sizes = { small: 100, large: 100, creator: 0, deleter: 50_000, many: 100 }
const [list, , turns, create, remove] = casesOf(SIZES)

const folder = t.testdir()
const prepared = await serviceOn('SQLite', `sqlite:${folder}/plants.db`, folder, SIZES)
const [service, bare] = [await start(prepared, folder), await start(bareFastify(folder, SIZES), folder)]
t.teardown(() => Promise.all([service.stop(), bare.stop()]))

for (const { name, run } of new Set([AUTOCANNON, chooseTool()])) {
  const measured = async (server: Running, each: Case) => {
    for (;;) {
      try {
        return await measure(server, each, 4, run)
      } catch (error) {
        // A busy machine may need more time for the first answer.
        if (!String(error).endsWith(NO_ANSWER)) throw error
      }
    }
  }

  t.test(`with ${name}, what the service answers and keeps is right`, async (t) => {
    const samples = await Promise.all([list, turns, create, remove].map((each) => measured(service, each)))
    for (const { rate, p50, p90, p99, cpu } of samples) {
      t.ok(rate > 0 && cpu > 0 && p50 > 0 && p50 <= p90 && p90 <= p99)
    }
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

t.test('an interval has the true median but for the given risk on each side, whatever the noise', async (t) => {
  // Of 12 samples, all on one side: 1 case of 4,096.
  const samples = Array.from({ length: 12 }, (_, index) => 1 + index)
  t.strictSame(estimate(samples, 1 / 4096), { low: 1, middle: 6.5, high: 12 })
  t.strictSame(estimate(samples, 1 / 4097), { low: -Infinity, middle: 6.5, high: Infinity })
  // Wilcoxon's critical value for 12 pairs and 0.05 on both sides is 13.
  const averages = samples
    .flatMap((one, index) => samples.slice(index).map((other) => (one + other) / 2))
    .sort((a, b) => a - b)
  t.equal(estimate(samples, 0.025).low, averages[13])
})

t.test(
  'the check finds a change of 10 % in noise of 5 %, and fails unchanged code in less than one of 20 runs',
  async (t) => {
    const alarms = { unchanged: 0, slower: 0 }
    const random = generator()
    for (let run = 0; run < 200; run++) {
      const gains = (loss: number) =>
        new Map(
          Array.from({ length: 34 }, (_, figure) => [
            `figure ${figure}`,
            Array.from({ length: 12 }, () => (0.05 * (random() - random())) / random() - loss),
          ]),
        )
      if (judge(gains(0)).some(({ isWorse }) => isWorse)) alarms.unchanged += 1
      if (judge(gains(0.1)).some(({ isWorse }) => isWorse)) alarms.slower += 1
    }
    t.ok(alarms.unchanged < 10, `${alarms.unchanged} of 200`)
    t.equal(alarms.slower, 200)
  },
)

t.test('the tables, the chart and the figures of the README are those of the recorded run', async (t) => {
  for (const [file, text] of Object.entries(published(recorded()))) t.equal(readFileSync(file, 'utf8'), text, file)
})

/** A generator of the same random numbers in each run, between 0 and 1 (Park and Miller, https://doi.org/10.1145/63039.63042). */
function generator(): () => number {
  let state = 1
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
}
