// Guards of the product, and the security schemes of a contract without and with them.
import { readFileSync, writeFileSync } from 'node:fs'
import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { pino } from 'pino'
import type { FastifyInstance } from 'fastify'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { buildGuards, nameCaller, sourceOf } from '../../src/auth/guard.ts'
import { type ProductGuard, readConfig } from '@plant-store/engine'
import type { ProductHooks } from '@plant-store/engine/for-compiler'
import { Authorizer } from '../../src/auth/security.ts'
import { loadCompiler } from '@plant-store/compiler'
import { buildApp } from '@plant-store/engine/for-testing'
import { checkRequest } from '../../src/http/protocol.ts'
import { HttpServer } from '../../src/http/server.ts'
import { OPENAPI } from '../../../../test/support/contracts/product-contract.ts'
import { product } from '../../../../test/support/product/product.ts'
import { build } from '../../../../test/support/servers/start-product.ts'
import { claimsOf, makeKey, sign, startIssuer } from '../../../../test/support/identity/issuer.ts'
import { exchange } from '../../../../test/support/inner/responses.ts'

// operations.test.ts sends every kind of bad credentials to every guarded operation of the
// contract.
const { call, store, token } = await build(t)
const valid = await token('auth')

t.test(
  'the scheme is not case-sensitive, and without a token nothing is stored or deleted',
  async (t) => {
    const plant = { method: 'POST', path: '/plants', body: { id: 1, name: 'x' } }
    const list = async (scheme: string) =>
      (await call({ path: '/plants', headers: { Authorization: `${scheme} ${valid}` } })).json
    await call(plant)
    t.strictSame(await list('bearer'), [])
    await call({ ...plant, token: valid })
    await call({ method: 'DELETE', path: '/plants/1' })
    for (const scheme of ['BEARER', 'bEaReR']) t.strictSame(await list(scheme), [{ name: 'x' }])
  },
)

t.test('an apiKey scheme accepts access tokens in its header, and only there', async (t) => {
  const schemes = '    key: { type: apiKey, in: header, name: X-Api-Key }\n'
  const { app } = await serve(t, { schemes, security: '- key: []' })
  const send = (headers: Headers) => ask(app, '/plants', headers)
  t.strictSame(await send({ 'x-api-key': valid }), [200, undefined])
  t.strictSame(await send({ authorization: `Bearer ${valid}` }), [401, 'ApiKey realm="plants"'])
  for (const key of [`Bearer ${valid}`, '', [valid, valid]])
    t.strictSame(await send({ 'x-api-key': key }), [
      401,
      'ApiKey realm="plants", error="invalid_token"',
    ])
})

t.test(
  'a guard of the product comes first, and its errors and credentials in a query are not logged',
  async (t) => {
    const guards: ProductHooks['guards'] = {
      login: (_, credentials) =>
        credentials === 'YQ==' ? { caller: 'auth', scopes: [] } : undefined,
      key: ({ url }, credentials) => {
        const basic = btoa(`me:${credentials}`)
        if (credentials.startsWith('broken'))
          throw new Error(`no answer for ${url} ${encodeURIComponent(credentials)} ${basic}`)
        return credentials === 'secret-7' ? { caller: 'auth', scopes: [] } : undefined
      },
    }
    const { app, logged } = await serve(
      t,
      { security: '- login: []\n  - key: []' },
      {
        guards,
        errorBody,
      },
    )
    const send = (url: string, authorization?: string) =>
      ask(app, url, authorization ? { authorization } : {})
    const challenge = 'Basic realm="plants", charset="UTF-8"'
    t.strictSame(await send('/plants', 'bAsic YQ=='), [200, undefined])
    t.strictSame(await send('/plants'), [401, challenge])
    for (const credentials of ['Basic YQ', 'Basic', 'Basic YQ==, Basic YQ==', `Bearer ${valid}`])
      t.strictSame(await send('/plants', credentials), [401, challenge], credentials)
    for (const key of ['secret-8', valid, 'secret-7&key=secret-7'])
      t.strictSame(
        await send(`/plants?key=${key}`),
        [401, 'ApiKey realm="plants", error="invalid_token"'],
        key,
      )
    t.strictSame(await send('/plants?key=broken-secret-9'), [500, undefined])
    for (const path of ['/none', '/plants/%ff', '/plants/x']) await send(`${path}?key=secret-7`)
    t.strictSame(await send('/plants?key=broken%20secret%2F9'), [500, undefined])
    t.match(logged.join(''), /no answer for \/plants\?key=\*\*\* \*\*\* \*\*\*/)
    t.notMatch(logged.join(''), /secret|YQ==|c2VjcmV0|N0ZXQ|zZWNyZX/i)
  },
)

t.test('callers of one name differ by where they come from, and so do their items', async (t) => {
  const issuer = await startIssuer(t)
  const key = await makeKey('ES256', 'first')
  issuer.publish([key])
  const jwt = await sign(key, claimsOf(issuer.name, 'alice'))
  const alice = () => ({ caller: 'alice', scopes: [] })
  const guards = { login: alice, key: alice }
  const bearer = '    token: { type: http, scheme: bearer }\n'
  const security = '- login: []\n  - key: []\n  - token: []'
  const { app } = await serve(
    t,
    { schemes: SCHEMES + bearer, security },
    { guards },
    issuer.environment,
  )
  const clients = [
    ['/plants', `Bearer ${await token('alice')}`],
    ['/plants', `Bearer ${jwt}`],
    ['/plants', 'Basic YQ=='],
    ['/plants?key=x', ''],
  ] as const
  for (const [id, [url, authorization]] of clients.entries()) {
    const payload = { id, name: `plant ${id}` }
    const answer = await app.inject({ method: 'POST', url, headers: { authorization }, payload })
    t.equal(answer.statusCode, 200, answer.body)
  }
  for (const [id, [url, authorization]] of clients.entries()) {
    const { body } = await app.inject({ url, headers: { authorization } })
    t.equal(body, `[{"name":"plant ${id}"}]`)
  }
  const kept = await call({ path: '/plants', token: await token('alice') })
  t.strictSame(kept.json, [{ name: 'plant 0' }], 'what a token stored before stays its own')
})

t.test('a caller can only be named as one source names it', (t) => {
  const text = fc.string({ unit: 'grapheme', maxLength: 9 })
  const name = fc.oneof(text, fc.stringMatching(/^[#a-c]{1,4}$/))
  const scheme = fc.stringMatching(/^[#a-c%é]{1,4}$/)
  const issuer = fc.stringMatching(/^[a-c%]{1,4}$/)
  const source = fc.oneof(
    scheme.map((of) => ({ kind: 'guard', of, prefix: sourceOf({ name: of }) })),
    issuer.map((of) => ({ kind: 'jwt', of, prefix: `${of}#` })),
  )
  fc.assert(
    fc.property(source, name, source, name, (a, nameOfA, b, nameOfB) => {
      const [first, second] = [nameCaller(a.prefix, nameOfA), nameCaller(b.prefix, nameOfB)]
      if (first === undefined || second === undefined) return
      const isSame = a.kind === b.kind && a.of === b.of && nameOfA === nameOfB
      assert.equal(first === second, isSame)
      assert.ok(first.includes('#'), 'no access token has such a caller')
    }),
    { numRuns: 5000 },
  )
  t.end()
})

t.test(
  'a guard of the product that does not answer is given up after REQUEST_TIMEOUT: 503',
  async (t) => {
    const signals: AbortSignal[] = []
    const login: ProductGuard = (_request, credentials, signal) => {
      signals.push(signal)
      const never = new Promise<never>(() => undefined)
      return credentials === 'YQ==' ? never : { caller: 'ann', scopes: [] }
    }
    const guards = { login }
    const { app } = await serve(
      t,
      { security: '- login: []' },
      { guards },
      { REQUEST_TIMEOUT: '0.1' },
    )
    t.strictSame(await ask(app, '/plants', { authorization: 'Basic YQ==' }, 'retry-after'), [
      503,
      '1',
    ])
    await ask(app, '/plants', { authorization: 'Basic Yg==' })
    t.strictSame(
      signals.map(({ aborted }) => aborted),
      [true, false],
      'its signal aborts then',
    )
  },
)

t.test(
  'a scheme without a guard would be answered 401, if such a product could start',
  async (t) => {
    const scheme = {
      name: 'login',
      type: 'other',
      in: 'header',
      key: 'authorization',
      challenge: 'Basic',
    } as const
    const { app } = new HttpServer({
      config: readConfig('plants', {}),
      log: pino({ level: 'silent' }),
      maxConnections: 10,
    })
    t.teardown(() => app.close())
    const makeGuard = await buildGuards(app, {
      realm: 'x',
      timeout: 5,
      accessTokens: { check: () => ({ caller: 'joe', scopes: [] }) },
    })
    const authorizer = new Authorizer([[{ scheme, scopes: [] }]], makeGuard, () => false)
    app.addHook('onRequest', checkRequest)
    app.addHook('onRequest', async (request) => authorizer.authorize(request.exchange))
    app.get('/', () => 'open')
    for (const headers of [{}, { authorization: 'Basic YQ==' }, { authorization: 'Bearer a' }])
      t.equal((await ask(app, '/', headers))[0], 401)
  },
)

t.test('errorBody writes the errors outside of the operations, too', async (t) => {
  const { app } = await serve(t, { security: '- key: []' }, { errorBody })
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  for (const [text, code] of [
    ['GET /none HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n', 404],
    ['PATCH /plants HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n', 405],
    ['GET /plants HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n', 401],
    ['CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n', 501],
    ['no HTTP\r\n\r\n', 400],
  ] as const) {
    t.match(
      String(await exchange(Number(port), [text])),
      new RegExp(`^HTTP/1.1 ${code} [^]*"code":${code}}$`),
      text,
    )
  }
})

type Headers = Record<string, string | string[]>

/** Sends a request. @returns the status and a header of its answer */
async function ask(app: FastifyInstance, url: string, headers: Headers, name = 'www-authenticate') {
  const answer = await app.inject({ url, headers })
  return [answer.statusCode, answer.headers[name]]
}

/** Serves the contract with other security schemes, and with hooks of the product. */
async function serve(
  t: Test,
  { schemes = SCHEMES, security }: { schemes?: string; security: string },
  added: ProductHooks = {},
  environment = {},
) {
  const logged: string[] = []
  const contract = `${t.testdir()}/openapi.yaml`
  const yaml = readFileSync(OPENAPI, 'utf8')
    .replaceAll(/^ {6}security: .*\n/gm, '') // of single operations
    .replace('- bearerAuth: []', security)
    .replace(
      '    properties:\n        error:',
      '    properties:\n        code: { type: integer }\n        error:',
    )
  const secured = yaml.replace(/ {4}bearerAuth:\n(?: {6}.*\n)*/, schemes)
  writeFileSync(
    contract,
    added.errorBody ? secured.replace('required: [error, message]', FORM) : secured,
  )
  const log = pino({ level: 'trace' }, { write: (line: string) => logged.push(line) })
  const app = await buildApp({
    loadCompiler,
    product: {
      ...product,
      ...added,
      contract: { ...product.contract, file: pathToFileURL(contract).href },
    },
    config: readConfig('plants', environment),
    store,
    log,
  })
  t.teardown(() => app.close())
  return { app, logged }
}
const errorBody = (error: number, message: string) => ({ error, message, code: error })
const SCHEMES =
  '    login: { type: http, scheme: basic }\n    key: { type: apiKey, in: query, name: key }\n'
const FORM = 'required: [error, message, code]'
