// Bytes that programs frame differently, through real gateways: what the gateway takes for one request is one for the
// service. The service's own answers to them are in ../engine/http/server.test.ts.
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { shapes } from '../support/framing.ts'
import { build } from '../support/helper.ts'
import { exchange } from '../support/responses.ts'
import { startHaproxy, startNginx } from './gateways.ts'

/** Gateways before a service, with the lines of their logs, a request each: whether it was passed on, and its request line. */
const gateways = {
  nginx: async (t: Test, port: number) => {
    const file = `${t.testdir()}/access.log`
    const log = `log_format passed '$upstream_status|$request'; access_log ${file} passed;`
    const gateway = await startNginx(t, [{ port }], '', log)
    return { port: gateway.port, lines: () => readFileSync(file, 'utf8').split('\n').slice(0, -1) }
  },
  HAProxy: async (t: Test, port: number) => {
    const log = '  log stdout format raw daemon\n  log-format %[srv_name,regsub(.+,200)]|%r\n'
    const gateway = await startHaproxy(t, [{ port }], log)
    return { port: gateway.port, lines: () => gateway.printed.stdout.split('\n').slice(0, -1) }
  },
}

for (const [name, open] of Object.entries(gateways)) {
  t.test(`what ${name} passes on as one request is one request for the service`, async (t) => {
    const service = await build(t)
    const { port, lines } = await open(t, service.port)
    const passed = () => lines().filter((line) => /^\d/.test(line)).length
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
