// A cookie as credential: browsers send it with the requests of any page, so pages of other sites
// are refused.
import { pathToFileURL } from 'node:url'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { loadCompiler } from '@plant-store/compiler'
import { buildApp } from '@plant-store/engine/for-testing'
import { type ProductGuard, readConfig } from '@plant-store/engine'
import { product as own } from '../../../../test/support/product/product.ts'

const UNSAFE = ['post', 'put', 'patch', 'delete']
const TYPES = [
  'application/x-www-form-urlencoded: {}',
  'multipart/form-data: {}',
  'text/plain: { schema: { type: string } }',
  'application/json: {}',
]
const bodyOf = (method: string) =>
  method === 'delete' ? '' : `requestBody: { content: { ${TYPES.join(', ')} } }, `
const operation = (method: string) =>
  `    ${method}: { operationId: ${method}, ${bodyOf(method)}responses: { '204': { description: Done } } }\n`
const contractWith = (security: string) => `openapi: 3.1.0
info: { title: Carts, version: 1.0.0 }
security: ${security}
servers: [{ url: '{base_url}', variables: { base_url: { default: . } } }]
paths:
  /x:
${['get', ...UNSAFE].map(operation).join('')}
components:
  securitySchemes:
    session: { type: apiKey, in: cookie, name: sid }
    token: { type: http, scheme: bearer }
    tls: { type: mutualTLS }
`

/** Serves a contract with these alternatives of `security`. */
async function serve(t: Test, security: string, environment: Record<string, string> = {}) {
  const folder = t.testdir({ 'openapi.yaml': contractWith(security) })
  const calls: string[] = []
  const methods = ['get', ...UNSAFE].map((name) => [
    name,
    async () => {
      calls.push(name)
      return { status: 204 }
    },
  ])
  const guard: ProductGuard = (_request, credentials) =>
    credentials === 'ann' ? { caller: 'ann', scopes: [] } : undefined
  const product = {
    name: 'carts',
    tokenPrefix: 'carts',
    contract: { ...own.contract, file: pathToFileURL(`${folder}/openapi.yaml`).href },
    collections: {},
    services: () => [Object.fromEntries(methods) as object],
    guards: { session: guard, token: () => ({ scopes: [] }), tls: () => ({ scopes: [] }) },
  }
  const config = readConfig('carts', environment)
  const app = await buildApp({ product, loadCompiler, config, log: pino({ level: 'silent' }) })
  t.teardown(() => app.close())
  const ask = async (method: string, headers: Record<string, string>, payload?: string) => {
    const sent = { host: 'carts.example', cookie: 'sid=ann', ...headers }
    const options = payload === undefined ? {} : { payload }
    const answer = await app.inject({
      method: method as 'GET',
      url: '/x',
      headers: sent,
      ...options,
    })
    return answer.statusCode
  }
  return { ask, calls }
}

/** Headers of requests by pages of other sites. */
const FOREIGN: readonly Record<string, string>[] = [
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'cross-site', origin: 'https://carts.example' },
  { 'sec-fetch-site': 'cross-site', origin: 'null' },
  { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-user': '?1' },
  { 'sec-fetch-site': 'cross-site, same-origin' },
  { 'sec-fetch-site': '' },
  { origin: 'https://evil.example' },
  { origin: 'https://carts.example.evil.example' },
  { origin: 'https://evil.example:443' },
  { origin: 'null' },
  { origin: 'file://' },
  { origin: '' },
]
/** Headers of other requests. */
const OWN: readonly Record<string, string>[] = [
  {},
  { 'sec-fetch-site': 'same-origin', origin: 'https://carts.example' },
  { 'sec-fetch-site': 'same-site', origin: 'https://www.carts.example' },
  { 'sec-fetch-site': 'none' },
  { origin: 'https://carts.example' },
  { origin: 'http://carts.example:8080' },
]
const BODIES: readonly (readonly [type: string, text: string])[] = [
  ['application/x-www-form-urlencoded', 'a=b'],
  [
    'multipart/form-data; boundary=x',
    '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n',
  ],
  ['text/plain', 'a'],
  ['application/json', '{}'],
]

t.test('a page of another site changes nothing where a cookie is the credential', async (t) => {
  const { ask, calls } = await serve(t, '[{ session: [] }]')
  for (const headers of FOREIGN) {
    for (const method of UNSAFE) t.equal(await ask(method, headers), 403, JSON.stringify(headers))
    for (const [type, text] of BODIES)
      t.equal(await ask('post', { ...headers, 'content-type': type }, text), 403, type)
    t.equal(await ask('post', { ...headers, cookie: 'sid=nobody' }), 401)
  }
  t.strictSame(calls, [])
  for (const headers of FOREIGN)
    for (const method of ['GET', 'HEAD', 'OPTIONS'])
      t.equal(await ask(method, headers), 204, `${method} is safe`)
  for (const headers of OWN) {
    for (const method of UNSAFE) t.equal(await ask(method, headers), 204, JSON.stringify(headers))
    for (const [type, text] of BODIES)
      t.equal(await ask('post', { ...headers, 'content-type': type }, text), 204, type)
  }
})

t.test('the origins of CORS_ORIGINS and of BASE_URL are trusted', async (t) => {
  const { ask } = await serve(t, '[{ session: [] }]', {
    CORS_ORIGINS: 'https://app.example,https://b.example',
  })
  for (const site of [{}, { 'sec-fetch-site': 'cross-site' }]) {
    t.equal(await ask('post', { ...site, origin: 'https://app.example' }), 204)
    for (const origin of ['http://app.example', 'https://app.example:8443', 'https://c.example'])
      t.equal(await ask('post', { ...site, origin }), 403, origin)
  }
  const renamed = await serve(t, '[{ session: [] }]', { BASE_URL: 'https://shop.example/v1' })
  t.equal(await renamed.ask('post', { origin: 'https://shop.example' }), 204)
  t.equal(await renamed.ask('post', { origin: 'https://evil.example' }), 403)
})

t.test('only where the cookie lets the request in', async (t) => {
  const [foreign = {}] = FOREIGN
  const bearer = { ...foreign, authorization: 'Bearer ann' }
  const either = await serve(t, '[{ token: [] }, { session: [] }]')
  t.equal(await either.ask('post', { ...bearer, cookie: '' }), 204)
  t.equal(await either.ask('post', bearer), 204)
  t.equal(await either.ask('post', foreign), 403)
  const both = await serve(t, '[{ token: [], session: [] }]')
  t.equal(await both.ask('post', bearer), 204, 'a page can not send the token')
  const withTls = await serve(t, '[{ session: [], tls: [] }]')
  t.equal(await withTls.ask('post', foreign), 403, 'a browser sends both')
  const open = await serve(t, '[{ session: [] }, {}]')
  t.equal(await open.ask('post', { ...foreign, cookie: 'other=1' }), 204)
  t.equal(await open.ask('post', foreign), 403)
  const none = await serve(t, '[]')
  t.equal(await none.ask('post', foreign), 204)
})
