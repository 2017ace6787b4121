import t from 'tap'
import { build } from '../../support/helper.ts'

const { call, port } = await build(t)

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

t.test('the page may load and do what it needs, and nothing else', async (t) => {
  const needed =
    "script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'"
  const policy = `default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; ${needed}`
  for (const origin of ['', 'https://plants.example']) {
    const { port } = await build(t, { BASE_URL: origin && `${origin}/garden` })
    const { headers } = await fetch(`http://127.0.0.1:${port}/docs/`)
    const directives = headers.get('content-security-policy')?.trim().split(/; */)
    t.strictSame(directives?.sort(), `${policy} ${origin}`.trim().split('; ').sort())
  }
})

t.test('what is not there is an Error under /docs, too', async (t) => {
  const headers = { 'cache-control': 'no-store', 'x-request-id': 'mine' }
  for (const name of ['no', 'json', 'static/', 'static/no.js', 'static/..%2f..%2fpackage.json']) {
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
