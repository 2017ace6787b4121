import t from 'tap'
import { build } from '../../support/helper.ts'

t.test('the addresses of the docs lead to one page, relatively', async (t) => {
  const { port } = await build(t)
  for (const path of ['/', '/?x=1', '/docs', '/%64ocs', '/docs?x=1']) {
    const { status, headers } = await fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual' })
    t.strictSame([status, headers.get('location')], [302, 'docs/'], path)
  }
})

t.test('a browser keeps the files of Swagger UI for an hour, and asks each time for all others', async (t) => {
  const { port } = await build(t)
  const table: [path: string, type: string, cache: string][] = [
    ['/docs/static/swagger-ui.css', 'text/css; charset=utf-8', 'public, max-age=3600'],
    ['/docs/static/swagger-ui-bundle.js', 'application/javascript; charset=utf-8', 'public, max-age=3600'],
    ['/docs/static/docs.js', 'application/javascript; charset=utf-8', 'no-cache'],
    ['/docs/', 'text/html; charset=utf-8', 'no-cache'],
    ['/openapi.yaml', 'application/yaml', 'no-cache'],
  ]
  for (const [path, ...expected] of table) {
    const { status, headers } = await fetch(`http://127.0.0.1:${port}${path}`)
    t.strictSame([status, headers.get('content-type'), headers.get('cache-control')], [200, ...expected], path)
  }
})

t.test('the page may load and do what it needs, and nothing else', async (t) => {
  const policyOf = async (environment: Record<string, string>) => {
    const { port } = await build(t, environment)
    const { headers } = await fetch(`http://127.0.0.1:${port}/docs/`)
    const directives = headers.get('content-security-policy')?.trim().split(/; */) ?? []
    return Object.fromEntries(directives.map((each) => [each.split(' ', 1)[0], each.split(' ').slice(1).join(' ')]))
  }
  const policy = {
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self' 'unsafe-inline'",
    'img-src': "'self' data:",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
    'connect-src': "'self'",
  }
  t.strictSame(await policyOf({}), policy)
  const elsewhere = await policyOf({ BASE_URL: 'https://plants.example/garden' })
  t.strictSame(elsewhere, { ...policy, 'connect-src': "'self' https://plants.example" })
})

t.test('what is not there is an Error under /docs, too', async (t) => {
  const { port } = await build(t)
  const absent = ['no', 'json', 'static/', 'static/no.js', 'static/..%2f..%2fpackage.json'].map(
    (name) => `/docs/${name}`,
  )
  for (const path of absent) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-request-id': 'a-request' } })
    t.equal(response.status, 404)
    t.match(Object.fromEntries(response.headers), { 'cache-control': 'no-store', 'x-request-id': 'a-request' }, path)
    t.match(await response.json(), { error: 404, message: String }, path)
  }
  t.equal((await fetch(`http://127.0.0.1:${port}/docs/`, { method: 'POST' })).status, 405)
  t.equal((await fetch(`http://127.0.0.1:${port}/docs/no`, { method: 'POST' })).status, 404)
})

t.test('with DOCS=off there is no page, and the contract is still served', async (t) => {
  const { call, port } = await build(t, { DOCS: 'off' })
  for (const path of ['/docs', '/docs/', '/docs/static/index.html', '/docs/json']) {
    t.equal((await call({ path })).status, 404, path)
  }
  t.equal((await fetch(`http://127.0.0.1:${port}/openapi.yaml`)).status, 200)
})
