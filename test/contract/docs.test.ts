import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import t, { type Test } from 'tap'
import { browser, execute, open } from '../support/browser.ts'
import { build } from '../support/helper.ts'

const HOST = 'plants.example'
const file = readFileSync('openapi.yaml')
const chromium = await browser(t, HOST)

t.test('the contract is served to the byte', async (t) => {
  const { port } = await build(t)
  const response = await fetch(`http://127.0.0.1:${port}/openapi.yaml`)
  t.equal(response.headers.get('content-type'), 'application/yaml')
  t.ok(file.equals(Buffer.from(await response.arrayBuffer())))
})

t.test('BASE_URL is the only difference of the contract that is served with it', async (t) => {
  const { port } = await build(t, { BASE_URL: 'https://plants.example/garden' })
  const served = await (await fetch(`http://127.0.0.1:${port}/openapi.yaml`)).text()
  t.equal(served, file.toString().replace('default: .\n', 'default: "https://plants.example/garden"\n'))
})

t.test('the addresses of the docs lead to one page, relatively', async (t) => {
  const { port } = await build(t)
  const redirects = {
    '/': 'docs/',
    '/?x=1': 'docs/',
    '/docs': 'docs/',
    '/%64ocs': 'docs/',
    '/docs?x=1': 'docs/',
    '/docs/?x=1': './',
    '/docs/static/index.html': '../',
  }
  for (const [path, target] of Object.entries(redirects)) {
    const { status, headers } = await fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual' })
    t.strictSame([status, headers.get('location')], [302, target], path)
  }
})

t.test('HEAD answers as GET does', async (t) => {
  const { port } = await build(t)
  for (const path of ['/', '/docs', '/docs/', '/docs/static/swagger-ui.css', '/openapi.yaml']) {
    const [get, head] = await Promise.all(
      ['GET', 'HEAD'].map((method) => fetch(`http://127.0.0.1:${port}${path}`, { method, redirect: 'manual' })),
    )
    const headersOf = (response?: Response) => {
      const all = [...(response?.headers ?? [])]
      return [response?.status, all.filter(([name]) => !/^(date|x-request-id|connection|keep-alive)$/.test(name))]
    }
    t.strictSame(headersOf(head), headersOf(get), path)
  }
})

t.test('a browser keeps the files of the page, with their types', async (t) => {
  const { port } = await build(t)
  const get = async (headers: http.OutgoingHttpHeaders) => {
    const [response] = (await once(
      http.get({ port, host: '127.0.0.1', path: '/docs/static/swagger-ui.css', headers, agent: false }),
      'response',
    )) as [http.IncomingMessage]
    response.resume()
    return [response.statusCode, response.headers['content-type'], response.headers.etag] as const
  }
  const [status, type, etag] = await get({})
  t.strictSame([status, type], [200, 'text/css; charset=utf-8'])
  t.strictSame(await get({ 'If-None-Match': etag }), [304, undefined, etag])
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
  for (const path of [
    '/docs/no',
    '/docs/json',
    '/docs/static/',
    '/docs/static/no.js',
    '/docs/static/..%2f..%2fpackage.json',
  ]) {
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

for (const prefix of ['', '/garden']) {
  t.test(`a person tries all three operations in a browser, below "${prefix}/"`, async (t) => {
    const { port, token } = await build(t)
    const { page, faults } = await open(t, chromium, `http://${HOST}:${await gateway(t, port, prefix)}${prefix}/docs`)
    t.equal(await page.title(), 'Plant Store')

    await page.click('.btn.authorize')
    await page.fill('.auth-container input', await token('visitor'))
    await page.click('.auth-btn-wrapper .authorize')
    await page.click('.btn-done')

    t.equal(await execute(page, 'createPayout'), '200')
    t.equal(await execute(page, 'getPayout'), '200')
    t.match(await page.textContent('#operations-transactions-getPayout .live-responses-table .microlight'), 'Monstera')
    t.equal(await execute(page, 'deletePayout'), '204')
    t.equal(await execute(page, 'deletePayout'), '404')
    t.strictSame(faults, [])
    if (process.env['SCREENSHOT']) await page.screenshot({ path: process.env['SCREENSHOT'], fullPage: true })
  })
}

/** A gateway that takes a prefix off the path. @returns its port */
async function gateway(t: Test, port: number, prefix: string): Promise<number> {
  const server = http.createServer((request, response) => {
    const { method, url = '', headers } = request
    const onward = http.request(
      { host: '127.0.0.1', port, method, headers, path: url.slice(prefix.length) },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      },
    )
    if (url.startsWith(`${prefix}/`)) request.pipe(onward)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.closeAllConnections())
  t.teardown(() => server.close())
  const address = server.address()
  return address instanceof Object ? address.port : 0
}
