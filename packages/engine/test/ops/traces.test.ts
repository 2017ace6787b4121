// Spans of the real process, received by a real collector over OTLP.
import { writeFileSync } from 'node:fs'
import { json } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { generateTypes } from '../../../../test/support/inner/compiler.ts'
import { build, startOnNewFile } from '../../../../test/support/servers/start-product.ts'
import { linesOf, nodeAfter, startService } from '../../../../test/support/processes/programs.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { serveHttp } from '../../../../test/support/network/ports.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
/** A trace begun by a method. */
const OWN = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

/**
 * The fields of a span in OTLP's JSON:
 * https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
 */
interface Span {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly attributes: { key: string; value: Record<string, unknown> }[]
}
interface Export {
  readonly resourceSpans: { resource: Pick<Span, 'attributes'>; scopeSpans: { spans: Span[] }[] }[]
}

/** A collector. @param isDead whether it takes spans and never answers */
async function collect(t: Test, isDead = false) {
  const exports: Export[] = []
  const endpoint = await serveHttp(t, async (request, response) => {
    if (isDead) return
    t.equal(request.url, '/v1/traces')
    exports.push((await json(request)) as Export)
    response.setHeader('content-type', 'application/json').end('{}')
  })
  const scopes = () =>
    exports.flatMap(({ resourceSpans }) => resourceSpans.flatMap(({ scopeSpans }) => scopeSpans))
  return {
    exports,
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint },
    spans: () => scopes().flatMap(({ spans }) => spans),
  }
}

const valuesOf = (attributes: Span['attributes']) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

/**
 * Starts the service. At its end it prints the loaded ones of the modules that a start can do
 * without, and Fastify.
 */
const LISTING = nodeAfter(
  `import { registerHooks } from 'node:module'
  const seen = new Set()
  registerHooks({ load(url, context, next) {
    if (/opentelemetry|fastify.otel|prom-client.index|fastify.fastify/.test(url)) seen.add(url)
    return next(url, context)
  } })
  process.on('exit', () => console.error([...seen].join('\\n')))`,
  'test/support/product/main.ts',
)

t.test(
  'each request is a span of the trace that its client has begun, and none is lost at the end',
  async (t) => {
    const { exports, environment, spans } = await collect(t)
    const { child, ended, port, printed } = await startOnNewFile(t, environment, LISTING)
    const headers = {
      traceparent: `00-${TRACE}-${PARENT}-01`,
      tracestate: 'vendor=secret',
      baggage: 'user=secret',
    }
    await fetch(`http://127.0.0.1:${port}/plants?secret=1`, { headers })
    await fetch(`http://127.0.0.1:${port}/plants/7`, { method: 'DELETE' })
    await fetch(`http://127.0.0.1:${port}/secret`)
    child.kill('SIGTERM')
    t.match(await ended, { code: 0, stderr: /opentelemetry/ })
    const [first, second, third] = spans()
    t.equal(spans().length, 3)
    t.match(first, { name: 'GET /plants', kind: 2, traceId: TRACE, parentSpanId: PARENT })
    t.match(valuesOf(first?.attributes ?? []), {
      'http.route': '/plants',
      'http.request.method': 'GET',
      'http.response.status_code': 401,
    })
    t.match(second, { name: 'DELETE /plants/:id', traceId: /^[0-9a-f]{32}$/ })
    t.not(second?.traceId, TRACE)
    t.notOk(second?.parentSpanId)
    t.match(valuesOf(third?.attributes ?? []), { 'http.response.status_code': 404 })
    t.notMatch(JSON.stringify(exports), 'secret')
    const [resource] = exports.flatMap(({ resourceSpans }) =>
      resourceSpans.map((span) => span.resource.attributes),
    )
    t.match(valuesOf(resource ?? []), { 'service.name': 'plants' })
    t.match(printed.stdout, `"trace_id":"${TRACE}"`)
  },
)

/** A product whose guard and method fetch from an address. @returns its start command */
async function prepareRelay(t: Test, address: string): Promise<string[]> {
  const folder = t.testdir({
    'openapi.yaml': `openapi: 3.1.0
info: { title: Relay, version: 1.0.0 }
security: [{ login: [] }]
components: { securitySchemes: { login: { type: http, scheme: basic } } }
paths:
  /relay:
    post:
      operationId: relay
      requestBody: { content: { application/json: { schema: { type: object } } } }
      responses: { '204': { description: It is relayed. } }
`,
    'product.ts': `import { defineProduct } from '@plant-store/engine'
import { contract } from './contract.gen.ts'
export const product = defineProduct({
  name: 'relay',
  contract,
  guards: {
    login: async () => {
      await fetch('${address}/guard')
      return { caller: 'ann', scopes: [] }
    },
  },
  services: () => [{
    relay: async ({ signal }) => {
      await fetch('${address}/method', { signal })
      await fetch('${address}/own', { headers: { traceparent: '${OWN}' } })
      return { status: 204 }
    },
  }],
})`,
    'main.ts': `import { start } from '@plant-store/engine'
import { product } from './product.ts'
await start(product)`,
  })
  const generated = `${folder}/contract.gen.ts`
  const hooks = { guards: { login: () => undefined } }
  writeFileSync(generated, await generateTypes(`${folder}/openapi.yaml`, generated, hooks))
  return [process.execPath, `${folder}/main.ts`]
}

t.test('what a guard or a method fetches is part of the trace of their request', async (t) => {
  const traces = new Map<string, unknown>()
  const address = await serveHttp(t, (request, response) => {
    traces.set(request.url ?? '', request.headers['traceparent'])
    response.end()
  })
  const { environment, spans } = await collect(t)
  const command = await prepareRelay(t, address)
  const traced = await startService(t, environment, command)
  const untraced = await startService(t, {}, command)
  const headers = {
    authorization: 'Basic YQ==',
    traceparent: `00-${TRACE}-${PARENT}-01`,
    'content-type': 'application/json',
  }
  const relay = async ({ port }: { port: number }) => {
    const sent = { method: 'POST', headers, body: '{}' }
    t.equal((await fetch(`http://127.0.0.1:${port}/relay`, sent)).status, 204)
  }
  await relay(untraced)
  t.strictSame([...traces.values()], [undefined, undefined, OWN])
  await relay(traced)
  traced.child.kill('SIGTERM')
  await traced.ended
  const [span] = spans()
  const expected = `00-${TRACE}-${span?.spanId}-01`
  t.strictSame(Object.fromEntries(traces), { '/guard': expected, '/method': expected, '/own': OWN })
})

t.test('the variables of OpenTelemetry mean what its specification says', async (t) => {
  const { exports, environment, spans } = await collect(t)
  const folder = t.testdir()
  const serve = (name: string, variables: Record<string, string>) =>
    startService(t, { DATABASE_URL: `sqlite:${folder}/${name}.db`, ...variables })
  // Of two services with a request each, the one without a wait exports first.
  const slow = await serve('slow', { ...environment, OTEL_SERVICE_NAME: 'slow' })
  const quick = await serve('quick', {
    ...environment,
    OTEL_SERVICE_NAME: 'quick',
    OTEL_BSP_SCHEDULE_DELAY: '1',
  })
  for (const { port } of [slow, quick]) await fetch(`http://127.0.0.1:${port}/plants`)
  await eventually(() => spans().length > 0)
  const names = exports.flatMap(({ resourceSpans }) =>
    resourceSpans.map(({ resource }) => valuesOf(resource.attributes)['service.name']),
  )
  t.strictSame(names, ['quick'])

  const unsampled = { traceparent: `00-${TRACE}-${PARENT}-00` }
  for (const [variables, expected, headers] of [
    [{ OTEL_TRACES_SAMPLER: 'always_off' }, 0, {}],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }, 0, {}],
    [{ OTEL_SDK_DISABLED: 'true' }, 0, {}],
    [{ OTEL_TRACES_EXPORTER: 'none' }, 0, {}],
    [{ OTEL_TRACES_EXPORTER: 'console' }, 0, {}],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, 1, {}],
    [{ OTEL_TRACES_EXPORTER: 'console,otlp' }, 1, {}],
    [{ OTEL_SDK_DISABLED: 'false' }, 1, {}],
    [{ OTEL_SDK_DISABLED: '' }, 0, unsampled], // its client does not want it to be exported
  ] as [Record<string, string>, number, Record<string, string>][]) {
    const { environment, spans } = await collect(t)
    const { child, ended, port } = await serve(Object.values(variables).join('-'), {
      ...environment,
      ...variables,
    })
    await fetch(`http://127.0.0.1:${port}/plants`, { headers })
    child.kill('SIGTERM')
    t.match(await ended, { code: 0, stderr: '' })
    t.equal(spans().length, expected, JSON.stringify(variables))
  }
})

t.test('the endpoint of traces alone exports them, and precedes the common one', async (t) => {
  for (const others of [
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'none' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' },
  ]) {
    const { environment, spans } = await collect(t)
    const OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = `${environment.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces`
    const { child, ended, port } = await startOnNewFile(t, {
      ...others,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,
    })
    await fetch(`http://127.0.0.1:${port}/plants`)
    child.kill('SIGTERM')
    const { stdout } = await ended
    t.notMatch(stdout, /not exported/)
    t.equal(spans().length, 1)
  }
})

/** Answers of a collector that refuses all spans, or some of them. */
const REFUSALS = [
  [401, 'no key', /401/],
  [404, '', /404/],
  [413, 'x'.repeat(100_000), /413/],
  [200, '{"partialSuccess":{"rejectedSpans":"1","errorMessage":"no quota"}}', /no quota/],
] as const

t.test('traces that a collector refuses leave one line, until it takes some', async (t) => {
  for (const [refusal, text, reason] of REFUSALS) {
    let [status, body, exports]: [number, string, number] = [refusal, text, 0]
    const OTEL_EXPORTER_OTLP_ENDPOINT = await serveHttp(t, async (request, response) => {
      await json(request)
      response.writeHead(status, { 'content-type': 'application/json' }).end(body)
      exports += 1
    })
    const { child, ended, port } = await startOnNewFile(t, {
      OTEL_EXPORTER_OTLP_ENDPOINT,
      OTEL_BSP_SCHEDULE_DELAY: '1',
    })
    const exportOne = async () => {
      const before = exports
      await fetch(`http://127.0.0.1:${port}/plants`)
      await eventually(() => exports > before)
    }
    for (const _ of [1, 2, 3]) await exportOne()
    ;[status, body] = [200, '{}']
    for (const _ of [1, 2]) await exportOne()
    ;[status, body] = [refusal, text]
    for (const _ of [1, 2]) await exportOne()
    child.kill('SIGTERM')
    const { code, stdout, stderr } = await ended
    t.strictSame([code, stderr], [0, ''])
    const lines = linesOf(stdout).filter(({ msg }) => msg === 'traces are not exported')
    t.equal(lines.length, 2, `${refusal}: ${lines.map((line) => JSON.stringify(line)).join()}`)
    for (const line of lines) {
      t.match(line, { level: 40, reason })
      t.ok(JSON.stringify(line).length < 1000)
    }
  }
})

t.test('a collector that does not answer holds neither an answer nor the end', async (t) => {
  const { environment } = await collect(t, true)
  const { child, ended, port } = await startOnNewFile(t, {
    ...environment,
    SHUTDOWN_TIMEOUT: '0.5',
  })
  t.equal((await fetch(`http://127.0.0.1:${port}/plants`)).status, 401)
  const start = performance.now()
  child.kill('SIGTERM')
  t.match(await ended, { code: 0, stderr: '' })
  t.ok(performance.now() - start < 3000)
})

t.test('without an endpoint no module of OpenTelemetry is loaded', async (t) => {
  const { child, ended, port } = await startOnNewFile(t, {}, LISTING)
  await fetch(`http://127.0.0.1:${port}/plants`)
  child.kill('SIGTERM')
  const { stderr } = await ended
  t.match(stderr, /fastify\/fastify\.js/)
  t.notMatch(stderr, /opentelemetry|fastify.otel|prom-client/)
})

t.test('the trace id of a request is in its line of the log', async (t) => {
  const { call, log } = await build(t)
  await call({ path: '/plants', headers: { traceparent: `00-${TRACE}-${PARENT}-00` } })
  await call({ path: '/plants' })
  await call({ path: '/plants', headers: { traceparent: 'x' } })
  const logged = () => log.filter(({ msg }) => msg === 'request').map(({ trace_id }) => trace_id)
  await eventually(() => logged().length === 3)
  t.strictSame(logged(), [TRACE, undefined, undefined])
})
