// CORS_ORIGINS: which browser applications may call the API.
import t from 'tap'
import { browser } from '../../../../test/support/browser/open-page.ts'
import { allowOf, operations, paths } from '../../../../test/support/contracts/product-contract.ts'
import { build } from '../../../../test/support/servers/start-product.ts'
import { serveHttp } from '../../../../test/support/network/ports.ts'

const APP = 'https://app.example'
const preflight = {
  Origin: APP,
  'Access-Control-Request-Method': 'DELETE',
  'Access-Control-Request-Headers': 'authorization, x-other',
}
const page = () =>
  serveHttp(t, (_, response) => response.setHeader('content-type', 'text/html').end('<p>x'))
const [named, second] = [await page(), await page()]
const { call, port, token } = await build(t, { CORS_ORIGINS: `${APP}, ${named}` })
const isCors = (name: string) => name.startsWith('access-control-') || name === 'vary'

t.test(
  'a browser application of an origin that is named can call the API, and no other can',
  async (t) => {
    const secret = await token('browser')
    const chromium = await browser(t, 'plants.example')
    const session = async (origin: string) => {
      const page = await chromium.newPage()
      await page.goto(origin)
      return page.evaluate(
        async ([url, secret]) => {
          const others = {
            'Content-Type': 'application/json',
            'X-Request-Id': 'mine',
            'X-Other': 'any',
          }
          const headers = { Authorization: `Bearer ${secret}`, ...others }
          const send = async (
            method: string,
            path: string,
            body?: object,
            sent: object = headers,
          ) => {
            const init = {
              method,
              headers: { ...sent },
              ...(body && { body: JSON.stringify(body) }),
            }
            const answer = await fetch(`${url}${path}`, init).catch(String)
            if (typeof answer === 'string') return answer
            const read = ['Link', 'X-Request-Id', 'WWW-Authenticate'].map((name) =>
              answer.headers.get(name),
            )
            return [answer.status, ...read]
          }
          return [
            await send('POST', '/plants', { id: 1, name: 'a' }),
            await send('POST', '/plants', { id: 2, name: 'b' }),
            await send('GET', '/plants?limit=1'),
            await send('DELETE', '/plants/2'),
            await send('GET', '/plants', undefined, {}),
            await send('GET', '/nowhere', undefined, {}),
          ]
        },
        [`http://127.0.0.1:${port}`, secret] as const,
      )
    }
    t.match(await session(named), [
      [200, null, 'mine', null],
      [200, null, 'mine', null],
      [200, /^<\?limit=1&cursor=/, 'mine', null],
      [204, null, 'mine', null],
      [401, null, /^[\da-f-]{36}$/, 'Bearer realm="plants"'],
      [404, null, /^[\da-f-]{36}$/, null],
    ])
    t.strictSame(await session(second), Array<string>(6).fill('TypeError: Failed to fetch'))
  },
)

t.test('a preflight needs no token, and says what may be sent', async (t) => {
  const methods = [...new Set(operations.map(({ method }) => method))].sort()
  for (const template of paths) {
    const path = template.replace(/{\w+}/, '7')
    const { status, headers } = await call({ method: 'OPTIONS', path, headers: preflight })
    t.equal(status, 204, path)
    t.match(headers, {
      allow: allowOf(template),
      'access-control-allow-origin': APP,
      'access-control-allow-headers': 'Authorization, *',
      'access-control-expose-headers': '*',
      'access-control-max-age': '600',
      vary: 'Origin',
    })
    t.notOk('access-control-allow-credentials' in headers)
    t.strictSame(headers['access-control-allow-methods']?.split(', ').sort(), methods)
  }
  const noPreflight = await call({ method: 'OPTIONS', path: '/plants', headers: { Origin: APP } })
  t.strictSame([noPreflight.status, noPreflight.headers.allow], [204, allowOf('/plants')])
  t.equal((await call({ method: 'OPTIONS', path: '/nowhere', headers: preflight })).status, 404)
  t.equal((await call({ path: '/nowhere' })).status, 404)
})

t.test(
  'to any other origin, and without one, nothing is allowed; without CORS_ORIGINS none is named',
  async (t) => {
    const others = [
      'null',
      'http://app.example',
      'https://app.example:8443',
      'https://app.example.evil',
    ]
    const refused = [...others.map((Origin) => ({ ...preflight, Origin })), {}]
    const without = await build(t)
    for (const [ask, methods, names] of [
      [call, refused, ['vary']],
      [without.call, [preflight], []],
    ] as const) {
      for (const headers of methods) {
        for (const [method, expected] of Object.entries({
          OPTIONS: [204, allowOf('/plants')],
          GET: [401, undefined],
        })) {
          const { status, headers: answered } = await ask({ method, path: '/plants', headers })
          t.strictSame([status, answered.allow], expected)
          t.strictSame(Object.keys(answered).filter(isCors), names)
        }
      }
    }
  },
)
