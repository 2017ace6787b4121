// The docs page and the served document, over HTTP.
import type http from 'node:http'
import net from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { build } from '../../../../test/support/servers/start-product.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { boot } from '../../../../test/support/contracts/serve-contract.ts'

const { app, call, port } = await build(t)

t.test(
  'one page has relative addresses, and a browser keeps only the files of Swagger UI for an hour',
  async (t) => {
    for (const path of ['/', '/?x=1', '/docs', '/%64ocs', '/docs?x=1']) {
      const { status, headers } = await fetch(`http://127.0.0.1:${port}${path}`, {
        redirect: 'manual',
      })
      t.strictSame([status, headers.get('location')], [302, 'docs/'], path)
    }
    const table: [path: string, type: string, cache: string][] = [
      ['/docs/static/swagger-ui.css', 'text/css; charset=utf-8', 'public, max-age=3600'],
      [
        '/docs/static/swagger-ui-bundle.js',
        'application/javascript; charset=utf-8',
        'public, max-age=3600',
      ],
      [
        '/docs/static/js-yaml.min.js',
        'application/javascript; charset=utf-8',
        'public, max-age=3600',
      ],
      ['/docs/static/docs.js', 'application/javascript; charset=utf-8', 'no-cache'],
      ['/docs/', 'text/html; charset=utf-8', 'no-cache'],
      ['/openapi.yaml', 'application/yaml', 'no-cache'],
    ]
    for (const [path, ...expected] of table) {
      const { status, headers } = await fetch(`http://127.0.0.1:${port}${path}`)
      t.strictSame(
        [status, headers.get('content-type'), headers.get('cache-control')],
        [200, ...expected],
        path,
      )
    }
  },
)

const FILES = [
  '/openapi.yaml',
  '/docs/',
  ...['swagger-ui-bundle.js', 'swagger-ui.css', 'js-yaml.min.js', 'docs.js'].map(
    (name) => `/docs/static/${name}`,
  ),
]

t.test('whoever has a file gets 304, by a tag that names its content', async (t) => {
  const tags = new Set<string>()
  for (const path of FILES) {
    const ask = async (method: string, ifNoneMatch?: string) => {
      const headers = ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers })
      const { length } = await response.text()
      return { status: response.status, headers: Object.fromEntries(response.headers), length }
    }
    const whole = await ask('GET')
    const { etag = '', 'cache-control': cache, 'content-length': size } = whole.headers
    t.match(etag, /^"[\w-]{43}"$/, path)
    t.ok(whole.status === 200 && whole.length > 500, path)
    tags.add(etag)
    for (const header of [etag, `W/${etag}`, `"a", "b,c" ,${etag}`, `W/"a",W/${etag} `, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const { status, headers, length } = await ask(method, header)
        t.strictSame([status, length, headers['etag']], [304, 0, etag], `${path} ${header}`)
        t.strictSame([headers['cache-control'], headers['content-length']], [cache, undefined])
      }
    }
    for (const header of ['"a"', '"*"', etag.slice(1, -1), `w/${etag}`, `"${etag}"`, ''])
      t.equal((await ask('GET', header)).status, 200, `${path} ${header}`)
    const head = await ask('HEAD')
    t.strictSame([head.status, head.length, head.headers['etag']], [200, 0, etag], path)
    t.equal(head.headers['content-length'], size, path)
  }
  t.equal(tags.size, FILES.length)
})

t.test('clients that take nothing of a file hold no copy of it', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const used = () => {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const responses: http.ServerResponse[] = []
  app.server.on('request', (_request, response) => responses.push(response))
  const before = used()
  const sockets = Array.from({ length: 60 }, () => net.connect(port, '127.0.0.1').pause())
  // The system takes the first answers of a connection from the service, and one stays.
  const bytes = 'GET /docs/static/swagger-ui-bundle.js HTTP/1.1\r\nHost: h\r\n\r\n'.repeat(10)
  for (const socket of sockets) socket.write(bytes)
  const stalled = () =>
    responses.filter(({ socket, writableLength }) => socket && writableLength > 0)
  await eventually(() => stalled().length === sockets.length)
  const growth = used() - before
  for (const socket of sockets) socket.destroy()
  t.ok(growth < 50e6, `${growth} bytes for 60 answers of 1.7 MB`)
})

t.test('the page may load and do what it needs, and nothing else', async (t) => {
  const needed =
    "script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src blob:; connect-src 'self'"
  const policy = `default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; ${needed}`
  const { port } = await build(t, { BASE_URL: 'https://plants.example/garden' })
  const { headers } = await fetch(`http://127.0.0.1:${port}/docs/`)
  const directives = headers.get('content-security-policy')?.split(/; */)
  t.strictSame(directives?.sort(), policy.split('; ').sort())
})

/** Ways out of the folder of the files. */
const OUTSIDE = [
  '..%2f..%2fpackage.json',
  '../docs.ts',
  '%2e%2e/docs-page.js',
  '//etc/passwd',
  'docs.js%00',
].map((path) => `static/${path}`)

t.test('no answer but the page is a page of its own', async (t) => {
  for (const path of [...FILES, '/', '/docs', '/docs/no', '/plants', '/%zz']) {
    const { headers } = await fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual' })
    const isSandboxed = headers.get('content-security-policy') === "sandbox; default-src 'none'"
    t.equal(isSandboxed, path !== '/docs/', path)
  }
})

t.test('what is not there is an Error under /docs, too', async (t) => {
  const headers = { 'cache-control': 'no-store', 'x-request-id': 'mine' }
  for (const name of ['no', 'json', 'static/', 'static/no.js', ...OUTSIDE]) {
    const answer = await call({ path: `/docs/${name}`, headers: { 'X-Request-Id': 'mine' } })
    t.match(answer, { status: 404, headers, json: { error: 404 } }, name)
  }
  t.equal((await fetch(`http://127.0.0.1:${port}/docs/`, { method: 'POST' })).status, 405)
  t.equal((await fetch(`http://127.0.0.1:${port}/docs/no`, { method: 'POST' })).status, 404)
})

t.test('with DOCS=off there is no page, and the contract is still served', async (t) => {
  const { call, port } = await build(t, { DOCS: 'off' })
  for (const path of ['/', '/docs', '/docs/', '/docs/static/index.html', '/docs/json']) {
    t.equal((await call({ path })).status, 404, path)
  }
  t.equal((await fetch(`http://127.0.0.1:${port}/openapi.yaml`)).status, 200)
})

t.test('an operation may have the path /, which leads to the page otherwise', async (t) => {
  const operation =
    "operationId: run, responses: { '200': { description: Done, content: { application/json: {} } } }"
  const app = await boot(t, {
    yaml: `paths:\n  /: { get: { ${operation} } }\n`,
    environment: { DOCS: 'on' },
  })
  t.match(await app.inject('/'), { statusCode: 200, payload: '{}' })
  t.match(await app.inject('/docs'), { statusCode: 302, headers: { location: 'docs/' } })
})
