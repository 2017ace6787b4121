// The limits of every HTTP server made here, whatever the configuration.
import { pino } from 'pino'
import t from 'tap'
import { type Config, readConfig } from '@plant-store/engine'
import { HttpServer, listen } from '../../src/http/server.ts'
import { hasIpv6 } from '../../../../test/support/network/ports.ts'

const make = (config: Config) =>
  new HttpServer({ config, log: pino({ level: 'silent' }), maxConnections: 10 }).app

t.test('whatever times the table allows, the server has them, in whole milliseconds', async (t) => {
  for (const [HEADERS_TIMEOUT, REQUEST_TIMEOUT, KEEP_ALIVE_TIMEOUT, STALL_TIMEOUT, ...expected] of [
    ['3', '5', '72', '30', 3000, 5000, 72_000, 30_000],
    ['16.1', '16.1', '0.1000000000000000055', '3599.9999', 16_100, 16_100, 100, 3_600_000],
    // Node requires the headers' time to be the shorter one.
    ['3600.0', '1.005', '0.10', '0.1', 1005, 1005, 100, 100],
  ] as const) {
    const times = { HEADERS_TIMEOUT, REQUEST_TIMEOUT, KEEP_ALIVE_TIMEOUT, STALL_TIMEOUT }
    const app = make(readConfig('plants', times))
    const { headersTimeout, requestTimeout, keepAliveTimeout, timeout } = app.server
    await app.close()
    t.strictSame([headersTimeout, requestTimeout, keepAliveTimeout, timeout], expected)
  }
})

/** By HOST: an address at which it can be reached, and one at which it can't. */
const hosts: Record<string, [reached: string, not?: string]> = {
  '127.0.0.1': ['127.0.0.1', '[::1]'],
  localhost: ['127.0.0.1', '[::1]'],
  LOCALHOST: ['127.0.0.1', '[::1]'],
  '0.0.0.0': ['127.0.0.1'],
  ...(hasIpv6 && {
    '::1': ['[::1]', '127.0.0.1'],
    '::': ['[::1]'],
    '0:0:0:0:0:0:0:1': ['[::1]', '127.0.0.1'],
  }),
}

for (const [host, [reached, not]] of Object.entries(hosts)) {
  t.test(
    `HOST=${host} is one server, with all its bounds, of which clients are told the one for idle connections`,
    async (t) => {
      const config = readConfig('plants', { HOST: host, PORT: '0' })
      const app = make(config)
      t.teardown(() => {
        app.server.closeAllConnections()
        return app.close()
      })
      await listen(app, config, 'PORT')
      t.equal(app.addresses().length, 1)
      const { port } = new URL(app.listeningOrigin)
      const { headers } = await fetch(`http://${reached}:${port}`)
      t.equal(headers.get('keep-alive'), 'timeout=72')
      if (not !== undefined) await t.rejects(fetch(`http://${not}:${port}`))
      t.equal(app.server.maxConnections, 10)
    },
  )
}
