// Compares the metrics and log lines of requests with the output of prom-client and pino for the same requests.
import { pino } from 'pino'
import { Histogram, register, Registry } from 'prom-client'
import t from 'tap'
import { RequestDurations } from '../../src/http/request-durations.ts'
import { type RequestLine, RequestLines } from '../../src/http/request-lines.ts'

t.test('the histogram is to the byte the one of prom-client', async (t) => {
  const registry = new Registry()
  const histogram = new Histogram({
    name: 'durations',
    help: 'Some',
    labelNames: ['http_request_method', 'http_route', 'http_response_status_code', 'error_type'],
    buckets: [
      0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
    ],
    registers: [registry],
  })
  const durations = new RequestDurations('durations', 'Some')
  for (const status of [200, 404, '', 200] as const) {
    for (const route of ['/a', '/{id}"\\\n', '_OTHER']) {
      for (const seconds of [0, 0.001, 0.0011, 0.1, 0.2, 10, 11, 1e-9]) {
        const isShed = seconds === 0.2
        const labels = {
          http_request_method: 'GET',
          http_route: route,
          http_response_status_code: status,
          ...(isShed && { error_type: 'too_busy' }),
        }
        histogram.observe(labels, seconds)
        durations.count({ method: 'GET', route, status, isShed }, seconds)
      }
    }
  }
  const expected = await registry.metrics()
  t.equal(`${await register.getSingleMetricAsString('durations')}\n`, expected)
  t.equal(expected.match(/_count{/g)?.length, 18)
})

t.test('a line is to the byte the one of pino, but for its time', async (t) => {
  const written: string[] = []
  const log = pino({ base: { pid: 7, hostname: 'h' } }, { write: (line) => written.push(line) })
  const lines = new RequestLines(log)
  const usual = { reqId: 'a.b-c_1', method: 'M-SEARCH', status: 200, ms: 0.125 }
  const rare = { client: '::1', route: '/{id}"\\\u0000', caller: '"\\\u0007\u{1f331}é' }
  const full = { ...rare, ms: 1e-7, isAborted: true, traceId: '0af7651916cd43dd8448eb211c80319c' }
  for (const more of [{}, { route: '/plants', caller: 'eve' }, full, full]) {
    const line: RequestLine = {
      ...{ client: undefined, caller: '', route: undefined, isAborted: false, traceId: undefined },
      ...usual,
      ...more,
    }
    const { reqId, client, caller, method, route, status, ms, isAborted, traceId } = line
    log.info({
      ...{ msg: 'request', reqId, client, caller: caller === '' ? undefined : caller },
      ...{ method, route, status, ms, aborted: isAborted || undefined, trace_id: traceId },
    })
    lines.write(line)
    const [expected, own] = written
      .splice(0)
      .map((text) => text.replace(/"time":\d{13}/, '"time":0'))
    t.equal(own, expected)
  }
  for (const level of ['warn', 'silent']) {
    log.level = level
    lines.write({ ...usual, ...full })
  }
  log.level = 'debug'
  lines.write({ ...usual, ...full })
  t.equal(written.length, 1)
})
