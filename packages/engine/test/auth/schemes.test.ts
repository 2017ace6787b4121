// Several security schemes of one operation: who is the caller, and how one scheme affects others.
import t, { type Test } from 'tap'
import type { ProductGuard } from '@plant-store/engine'
import type { ProductHooks } from '@plant-store/engine/for-compiler'
import { tokenOf } from '../../../../test/support/contracts/scoped-tokens.ts'
import { boot } from '../../../../test/support/contracts/serve-contract.ts'

const COMPONENTS = `components:
  securitySchemes:
    token: { type: http, scheme: bearer }
    key: { type: apiKey, in: header, name: X-Key }
    login: { type: apiKey, in: header, name: X-Login }
    session: { type: apiKey, in: header, name: X-Session }
    app: { type: apiKey, in: header, name: X-App }
    cert: { type: mutualTLS }`

/** The name is the caller. `!` is not valid, and `broken` can't be checked. */
const named: ProductGuard = async (_, credentials) => {
  if (credentials === 'broken') throw new Error('the directory is away')
  return credentials === '!' ? undefined : { caller: credentials, scopes: ['read'] }
}
const GUARDS: NonNullable<ProductHooks['guards']> = {
  login: named,
  session: named,
  app: (_, credentials) => (credentials === '!' ? undefined : { scopes: [credentials] }),
  cert: ({ headers }) => {
    const caller = headers['client-cert']
    if (caller === 'broken') throw new Error('the list of revoked certificates is away')
    return typeof caller === 'string' ? { caller, scopes: [] } : undefined
  },
}

type Headers = Readonly<Record<string, string>>

/**
 * Serves an operation with this security. @returns a function for the status and the caller, or the
 * message
 */
async function serve(t: Test, security: string, guards = GUARDS) {
  const responses =
    "      responses: { '200': { description: Done, content: { application/json: {} } } }"
  const yaml = `${responses}\n      security: ${security}\n${COMPONENTS}`
  const app = await boot(t, { yaml, product: { guards } })
  return async (headers: Headers) => {
    const { statusCode, body } = await app.inject({ url: '/x', headers })
    const { caller = '', message }: { caller?: string; message?: string } = JSON.parse(body)
    return [statusCode, message ?? caller]
  }
}

const READERS = { alice: tokenOf('alice', 'read'), bob: tokenOf('bob', 'read') }
const bearer = (caller: keyof typeof READERS) => ({ authorization: `Bearer ${READERS[caller]}` })
const [ALICE, BOB] = [tokenOf('alice'), tokenOf('bob')]
const CAROL = tokenOf('carol', 'a', 'b')
const DIFFERENT = [401, 'The credentials name different callers']

t.test('schemes that are required together must not name different callers', async (t) => {
  const tokens = await serve(t, '[{ token: [], key: [] }]')
  t.strictSame(await tokens({ ...bearer('alice'), 'x-key': ALICE }), [200, 'alice'])
  t.strictSame(await tokens({ ...bearer('alice'), 'x-key': BOB }), DIFFERENT)
  t.strictSame(await tokens({ ...bearer('bob'), 'x-key': ALICE }), DIFFERENT)
  for (const security of ['[{ token: [], login: [] }]', '[{ login: [], token: [] }]']) {
    const mixed = await serve(t, security)
    t.strictSame(await mixed({ ...bearer('alice'), 'x-login': 'alice' }), DIFFERENT, security)
  }
  const guards = await serve(t, '[{ login: [], session: [] }, {}]')
  t.strictSame(await guards({ 'x-login': 'alice', 'x-session': 'alice' }), DIFFERENT)
  const scoped = await serve(t, '[{ token: [admin], key: [] }]')
  t.strictSame(await scoped({ ...bearer('alice'), 'x-key': BOB }), DIFFERENT, 'before scopes')
})

t.test('a guard that names nobody leaves the caller to the other scheme', async (t) => {
  for (const security of ['[{ token: [], app: [mobile] }]', '[{ app: [mobile], token: [] }]']) {
    const send = await serve(t, security)
    t.strictSame(await send({ ...bearer('alice'), 'x-app': 'mobile' }), [200, 'alice'], security)
    t.match(await send({ ...bearer('alice'), 'x-app': 'web' }), [403, /scope mobile/])
    t.match(await send({ ...bearer('alice'), 'x-app': '!' }), [401])
    t.match(await send(bearer('alice')), [401])
    t.match(await send({ 'x-app': 'mobile' }), [401])
  }
  const only = await serve(t, '[{ app: [] }]')
  t.strictSame(await only({ 'x-app': 'mobile' }), [200, ''], 'nobody, as without security')
  t.match(await only({}), [401])
})

t.test('a method gets the scopes of the accepted credentials', async (t) => {
  const security = '[{ token: [], app: [] }, { login: [] }, { key: [] }, {}]'
  const responses =
    "      responses: { '200': { description: Done, content: { application/json: {} } } }"
  const app = await boot(t, {
    yaml: `${responses}\n      security: ${security}\n${COMPONENTS}`,
    product: { guards: GUARDS },
    run: async ({ scopes }) => ({ status: 200, body: [...(scopes as Set<string>)] }),
  })
  const scopesOf = async (headers: Headers): Promise<unknown> =>
    (await app.inject({ url: '/x', headers })).json()
  t.strictSame(await scopesOf({ ...bearer('alice'), 'x-app': 'read' }), ['read'], 'once')
  t.strictSame(await scopesOf({ ...bearer('alice'), 'x-app': 'mobile' }), ['read', 'mobile'])
  t.strictSame(await scopesOf({ 'x-login': 'ann' }), ['read'])
  t.strictSame(await scopesOf({ 'x-key': CAROL }), ['a', 'b'])
  t.strictSame(await scopesOf({}), [])
})

t.test('what is no name of a caller is refused', async (t) => {
  let caller: unknown
  const send = await serve(t, '[{ login: [] }]', {
    login: () => ({ caller: caller as string, scopes: [] }),
  })
  const long = 'ä'.repeat(255)
  for (caller of ['a', long, '#a', '\u{10FFFF}'.repeat(250)])
    t.strictSame(await send({ 'x-login': 'x' }), [200, `#login#${String(caller)}`])
  const wrong = ['', `${long}ä`, 'a\0b', 'a\nb', '\ud800', '\u{10FFFF}'.repeat(255), 7, {}, null]
  for (caller of [...wrong, undefined, ['alice']])
    t.strictSame(await send({ 'x-login': 'x' }), [401, 'The access token is not valid'])
})

t.test('without a certificate, only {} lets somebody in, as nobody', async (t) => {
  const optional = await serve(t, '[{ cert: [] }, {}]')
  t.strictSame(await optional({}), [200, ''])
  t.strictSame(await optional({ 'client-cert': 'alice' }), [200, '#cert#alice'])
  t.match(await optional({ 'client-cert': 'broken' }), [500])
  const required = await serve(t, '[{ cert: [] }]')
  t.strictSame(await required({}), [401, 'Credentials are needed'])
  const either = await serve(t, '[{ cert: [] }, { token: [] }]')
  t.strictSame(await either(bearer('alice')), [200, 'alice'])
  t.match(await either({}), [401])
  const both = await serve(t, '[{ cert: [], token: [] }, {}]')
  t.match(await both(bearer('alice')), [401], 'credentials that are not enough are not ignored')
  t.strictSame(await both({}), [200, ''])
})

t.test('beside {}, credentials that are not valid are refused', async (t) => {
  const send = await serve(t, '[{ token: [] }, { login: [] }, {}]')
  t.strictSame(await send({}), [200, ''])
  for (const headers of [{ authorization: 'Bearer x' }, { 'x-login': '!' }, { authorization: '' }])
    t.match(await send(headers), [401])
  t.match(await send({ 'x-login': 'broken' }), [500])
})

t.test('a guard that fails refuses nobody whom other credentials let in', async (t) => {
  for (const security of ['[{ login: [] }, { token: [] }]', '[{ token: [] }, { login: [] }]']) {
    const send = await serve(t, security)
    t.strictSame(await send({ ...bearer('alice'), 'x-login': 'broken' }), [200, 'alice'], security)
    t.match(await send({ 'x-login': 'broken' }), [500])
    t.match(await send({ 'x-login': 'broken', authorization: 'Bearer x' }), [500])
  }
  for (const security of ['[{ login: [] }, { session: [] }]', '[{ session: [] }, { login: [] }]']) {
    const send = await serve(t, security)
    t.strictSame(await send({ 'x-login': 'alice', 'x-session': 'broken' }), [200, '#login#alice'])
  }
  const together = await serve(t, '[{ login: [], app: [] }, { token: [] }]')
  t.match(await together({ 'x-login': 'broken', 'x-app': '!' }), [401], 'refused in any case')
  t.match(await together({ 'x-login': 'broken', 'x-app': 'a' }), [500])
})

t.test(
  'a guard that never answers holds up nobody whom an alternative before lets in',
  async (t) => {
    const end = Promise.withResolvers<undefined>()
    t.teardown(() => end.resolve(undefined))
    const login = () => end.promise
    const send = await serve(t, '[{ token: [] }, { login: [] }]', { login })
    t.strictSame(await send({ ...bearer('bob'), 'x-login': 'x' }), [200, 'bob'])
  },
)

t.test(
  'a guard is called once for a request, and what it does later changes nothing',
  async (t) => {
    let calls = 0
    const identity = { caller: 'alice', scopes: ['read'] }
    const login: ProductGuard = () => {
      calls += 1
      setImmediate(() => Object.assign(identity, { caller: 'mallory' }))
      return identity
    }
    const security = '[{ login: [admin] }, { login: [], token: [] }, { login: [read] }]'
    const send = await serve(t, security, { login })
    t.strictSame(await send({ 'x-login': 'x' }), [200, '#login#alice'])
    t.equal(calls, 1)
  },
)

t.test('a scope that no header can hold is refused when the contract is compiled', async (t) => {
  for (const scope of ['', 'a b', 'ä', 'a"b', 'a\\b', 'a\tb', '\x7f']) {
    const security = JSON.stringify([{ token: ['read', scope] }, { key: [] }])
    await t.rejects(
      serve(t, security),
      { message: /no header can hold the scope ".*": write/ },
      scope,
    )
  }
  const send = await serve(t, JSON.stringify([{ token: ['!#[]~', 'read'] }]))
  t.match(await send(bearer('alice')), [403, /the scope !#\[]~ read/])
})
