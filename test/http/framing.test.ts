import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { shapes } from '../support/framing.ts'
import { build } from '../support/helper.ts'

const { log, raw, token } = await build(t)

for (const [name, [bytes, ...statuses]] of Object.entries(shapes(await token('framing')))) {
  t.test(`${name}: ${statuses.join(', ')}`, async (t) => {
    log.length = 0
    const answers = await raw(Infinity, bytes)
    t.strictSame(
      answers.map(({ status }) => status),
      statuses,
    )
    await delay(10) // for what would be served without an answer
    // One answer is one line: what is no request for the client is none for the operator.
    t.strictSame(
      log.filter(({ msg }) => msg === 'request').map(({ status }) => status),
      statuses.filter((status) => status !== 100),
    )
  })
}
