import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { Turns } from '../../service/store/turns.ts'

t.test('one step begins in each turn of the event loop, in the order of the calls', async (t) => {
  const turns = new Turns(() => 0)
  const begun: string[] = []
  const steps = ['a', 'b', 'c'].map((name) => turns.run(async () => begun.push(name)))
  for (const expected of ['a', 'ab', 'abc']) {
    await nextTurn()
    t.equal(begun.join(''), expected)
  }
  await Promise.all(steps)
})

t.test('without requests, a step does not wait for the end of the last one', async (t) => {
  const turns = new Turns(() => 0)
  const { promise: slow, resolve } = Promise.withResolvers<string>()
  const first = turns.run(() => slow)
  t.equal(await turns.run(async () => 'second'), 'second')
  resolve('first')
  t.equal(await first, 'first')
})

t.test('after a request, a step waits until the last one has ended, and for as long as that took', async (t) => {
  let requests = 0
  const turns = new Turns(() => requests)
  for (let round = 0; round < 3; round++) {
    let [begun, ended] = [performance.now(), NaN]
    const first = turns.run(async () => {
      requests += 1
      begun = performance.now()
      await delay(20)
      ended = performance.now()
    })
    await turns.run(async () => t.ok(performance.now() - ended >= ended - begun, 'a pause as long as the step'))
    await first
  }
})

t.test('a step that fails delays the next one, but does not stop it', async (t) => {
  const turns = new Turns(() => performance.now())
  const fails = turns.run(async () => Promise.reject(new Error('away')))
  const next = turns.run(async () => 'next')
  await t.rejects(fails, { message: 'away' })
  t.equal(await next, 'next')
})
