import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { shapes } from '../../support/framing.ts'
import { build, statusesOf } from '../../support/helper.ts'
import { eventually } from '../../support/project.ts'

const { log, raw, token } = await build(t)

for (const [name, [bytes, ...statuses]] of Object.entries(shapes(await token('framing')))) {
  t.test(`${name}: ${statuses.join(', ')}`, async (t) => {
    log.length = 0
    t.strictSame(statusesOf(await raw(Infinity, bytes)), statuses)
    const logged = () => log.filter(({ msg }) => msg === 'request').map(({ status }) => status)
    const expected = statuses.filter((status) => status !== 100)
    await eventually(() => logged().length >= expected.length)
    await delay(10) // for what would be served without an answer
    // One answer is one line: what is no request for the client is none for the operator.
    t.strictSame(logged(), expected)
  })
}
