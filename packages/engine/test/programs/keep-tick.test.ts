// process.nextTick in a service that was started without a compile cache, beside a process that has loaded nothing.
import t from 'tap'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { MAIN, nodeAfter, run, startService } from '../../../../test/support/processes/programs.ts'

/** At SIGUSR2 it prints the least processor time of five rounds of calls, one after the other, in microseconds. */
const MEASURE = `
  const measure = () => new Promise((resolve) => {
    const begin = process.threadCpuUsage()
    let left = 100_000
    const tick = () => {
      left -= 1
      if (left > 0) process.nextTick(tick)
      else resolve(process.threadCpuUsage(begin))
    }
    process.nextTick(tick)
  })
  process.on('SIGUSR2', async () => {
    const times = []
    for (let round = 0; round < 5; round += 1) {
      const { user, system } = await measure()
      times.push(user + system)
    }
    console.error('ticks: ' + Math.min(...times))
  })`
const timeIn = (text: string) => Number(/ticks: (\d+)/.exec(text)?.[1])

t.test('without a compile cache, a tick costs about what it costs in a new process', async (t) => {
  const environment = { NODE_DISABLE_COMPILE_CACHE: '1' }
  const atOnce = nodeAfter(`${MEASURE}; process.emit('SIGUSR2')`, '--eval', '0')
  const fresh = timeIn((await run(atOnce, environment)).stderr)
  const database = { DATABASE_URL: `sqlite:${t.testdir()}/plants.db` }
  const command = nodeAfter(MEASURE, ...MAIN.slice(1))
  const { child, printed } = await startService(t, { ...environment, ...database }, command)
  child.kill('SIGUSR2')
  await eventually(() => timeIn(printed.stderr) > 0)
  const ratio = timeIn(printed.stderr) / fresh
  t.ok(ratio < 3, `it takes ${ratio} times as long`) // without `keepTick`, 6 to 12
})
