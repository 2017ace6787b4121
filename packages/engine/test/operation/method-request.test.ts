// The log and the signal of a method's request.
import { request as open } from 'node:http'
import t from 'tap'
import type { MethodRequest } from '../../src/operation/input/method-request.ts'
import { build } from '../../../../test/support/servers/start-product.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { product } from '../../../../test/support/product/product.ts'

type Run = (request: MethodRequest) => Promise<unknown>

/** The tests' product, with another method for listing plants. */
function withMethod(run: Run): typeof product {
  const services: typeof product.services = (collections, opened) => {
    const own = product.services(collections, opened)
    const lister = own.find((service) => 'getPayout' in service)
    if (lister !== undefined) Object.defineProperty(lister, 'getPayout', { value: run })
    return own
  }
  return { ...product, services }
}

const EMPTY = { status: 200, body: [] }
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'

t.test('the log of a method has the id of the request, the caller and the trace', async (t) => {
  const service = await build(
    t,
    {},
    withMethod(async ({ log }) => {
      log.warn({ plants: 0 }, 'none left')
      return EMPTY
    }),
  )
  const token = await service.token('joe')
  const headers = { 'X-Request-Id': 'r1', traceparent: `00-${TRACE}-00f067aa0ba902b7-01` }
  t.equal((await service.call({ path: '/plants', token, headers })).status, 200)
  const line = {
    level: 40,
    msg: 'none left',
    plants: 0,
    reqId: 'r1',
    caller: 'joe',
    trace_id: TRACE,
  }
  t.match(
    service.log.filter(({ msg }) => msg === 'none left'),
    [line],
  )
})

t.test('the signal of a method aborts when the client leaves, not after the answer', async (t) => {
  const signals: AbortSignal[] = []
  const gate = Promise.withResolvers<undefined>()
  const service = await build(
    t,
    {},
    withMethod(async ({ signal }) => {
      signals.push(signal)
      if (signals.length > 1) await gate.promise
      return EMPTY
    }),
  )
  const token = await service.token('joe')
  t.equal((await service.call({ path: '/plants', token })).status, 200)
  const headers = { Authorization: `Bearer ${token}` }
  const leaving = open({ port: service.port, path: '/plants', headers }).on(
    'error',
    () => undefined,
  )
  leaving.end()
  await eventually(() => signals.length === 2)
  t.equal(signals[1]?.aborted, false)
  leaving.destroy()
  await eventually(() => signals[1]?.aborted === true)
  t.match(signals[1]?.reason, { message: 'the client has left' })
  t.equal(signals[0]?.aborted, false)
  gate.resolve(undefined)
})

t.test('a method that uses neither gets the parts of the request only', async (t) => {
  const requests: MethodRequest[] = []
  const service = await build(
    t,
    {},
    withMethod(async (request) => {
      requests.push(request)
      return EMPTY
    }),
  )
  await service.call({ path: '/plants?limit=3', token: await service.token('joe') })
  t.strictSame(Object.keys(requests[0] ?? {}), [
    'caller',
    'path',
    'query',
    'header',
    'cookie',
    'body',
    'type',
  ])
  t.match(requests[0]?.query, { limit: 3 })
})
