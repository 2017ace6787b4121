// Bytes that programs frame differently, through real gateways: what the gateway takes for one request is one for the
// service. The service's own answers to them are in ../engine/http/framing.test.ts.
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { shapes } from '../support/framing.ts'
import { build } from '../support/helper.ts'
import { exchange } from '../support/responses.ts'
import { gateways } from './gateways.ts'

/** For the log of each gateway, in FILE or printed: a line for a request begins with a digit if it was passed on. */
const LOGS = {
  nginx: "log_format passed '$upstream_status|$request'; access_log FILE passed;",
  HAProxy: '  log stdout format raw daemon\n  log-format %[srv_name,regsub(.+,200)]|%r\n',
}

for (const name of ['nginx', 'HAProxy'] as const) {
  t.test(`what ${name} passes on as one request is one request for the service`, async (t) => {
    const service = await build(t)
    const file = `${t.testdir({ log: '' })}/log`
    const { port, printed } = await gateways[name](t, [service], LOGS[name].replace('FILE', file))
    const passed = () => (readFileSync(file, 'utf8') + printed.stdout).match(/^\d.*\n/gm)?.length ?? 0
    const served = () => service.log.filter(({ msg }) => msg === 'request').length
    const table = Object.entries(shapes(await service.token('gateway')))
    for (const [shape, [bytes]] of table) {
      await exchange(port, [Buffer.from(bytes, 'latin1')], Infinity, 300)
      // The two write their logs when they come to it.
      for (let left = 20; passed() !== served() && left > 0; left -= 1) await delay(20)
      if (passed() !== served()) t.fail(`${shape}: ${passed()} are passed on, and ${served()} served`)
    }
    await delay(500) // for what would come late
    t.equal(served(), passed())
    t.ok(served() > table.length / 4, 'which is not nothing')
  })
}
