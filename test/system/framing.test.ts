// Bytes that programs frame differently, through real gateways: what the gateway takes for one request is one for the
// service. The service's own answers to them are in ../engine/http/framing.test.ts.
import { readFileSync } from 'node:fs'
import net from 'node:net'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { shapes } from '../support/framing.ts'
import { build, type Service } from '../support/helper.ts'
import { startHaproxy, startNginx } from './gateways.ts'

/** A gateway before a service. */
interface Gateway {
  readonly port: number
  /** The lines of its log, a request each: whether it was passed on, and its request line. */
  readonly lines: () => string[]
}

const gateways: Readonly<Record<string, (t: Test, service: number) => Promise<Gateway>>> = {
  nginx: async (t, service) => {
    const file = `${t.testdir()}/access.log`
    const access = `log_format passed '$upstream_status|$request'; access_log ${file} passed;`
    const { port } = await startNginx(t, [{ port: service }], '', access)
    return { port, lines: () => readFileSync(file, 'utf8').split('\n').slice(0, -1) }
  },
  HAProxy: async (t, service) => {
    const format = '%[srv_name,regsub(.+,200)]|%r'
    const log = `  log stdout format raw daemon\n  log-format ${format}\n`
    const { port, printed } = await startHaproxy(t, [{ port: service }], log)
    return { port, lines: () => printed.stdout.split('\n').slice(0, -1) }
  },
}

for (const [name, open] of Object.entries(gateways)) {
  t.test(`what ${name} passes on as one request is one request for the service`, async (t) => {
    const { gateway, service, table } = await behind(t, open)
    for (const [shape, [bytes]] of table) t.equal(await difference(gateway, service, bytes), 0, shape)
    await delay(500) // for what would come late
    t.equal(countServed(service), countPassed(gateway))
    t.ok(countServed(service) > table.length / 4, 'which is not nothing')
  })
}

async function behind(t: Test, open: (t: Test, service: number) => Promise<Gateway>) {
  const service = await build(t)
  const gateway = await open(t, service.port)
  return { service, gateway, table: Object.entries(shapes(await service.token('gateway'))) }
}

/** Sends bytes to a gateway. @returns how many more requests it has passed on than the service has served */
async function difference(gateway: Gateway, service: Service, bytes: string): Promise<number> {
  const count = () => countPassed(gateway) - countServed(service)
  const before = count()
  await exchange(gateway.port, bytes)
  // The two write their logs when they come to it.
  for (let left = 20; count() !== before && left > 0; left -= 1) await delay(20)
  return count() - before
}

function countPassed({ lines }: Gateway): number {
  return lines().filter((line) => /^\d/.test(line)).length
}

function countServed({ log }: Service): number {
  return log.filter(({ msg }) => msg === 'request').length
}

/** Sends bytes, and reads until the other side closes, or says nothing for a while. */
async function exchange(port: number, bytes: string): Promise<string> {
  const socket = net.connect(port, '127.0.0.1').on('error', () => undefined)
  let text = ''
  socket.on('data', (chunk) => (text += chunk.toString('latin1')))
  socket.setTimeout(300, () => socket.destroy())
  socket.write(bytes, 'latin1')
  await once(socket, 'close')
  return text
}
