// A real provider of OpenID Connect (npm's oidc-provider), on this machine.
import { once } from 'node:events'
import http from 'node:http'
import { exportJWK } from 'jose'
import type { Test } from 'tap'
import { AUDIENCE, type Key } from './issuer.ts'
import { fields } from '../inner/json.ts'
import { freePort } from '../network/ports.ts'

/** The client of programs, which signs in with a secret. */
const PROGRAM = { client_id: 'program', client_secret: 'secret' }
/** The client of the docs page, which has no secret. */
export const PAGE_CLIENT = 'page'
export const SCOPE = 'read'

interface Options {
  /** The first one signs; all are published. */
  readonly keys: readonly Key[]
  /** The `typ` of its JWTs. By default it is `at+jwt` (RFC 9068). */
  readonly type?: 'JWT'
  /** Where the docs page is led back to. */
  readonly redirects?: readonly string[]
}

/** Starts a provider, and ends it with the test. */
export async function startProvider(t: Test, options: Options) {
  const { default: Provider } = await import('oidc-provider')
  const port = await freePort()
  const issuer = `http://127.0.0.1:${port}`
  const make = async (present: Options) =>
    new Provider(issuer, await configurationOf(present)).callback()
  let answer = await make(options)
  const server = http.createServer((request, response) => answer(request, response))
  t.teardown(() => server.close().closeAllConnections())
  await once(server.listen(port, '127.0.0.1'), 'listening')
  return {
    /** The environment of a service with trust in it. */
    environment: { JWT_ISSUER: issuer, JWT_AUDIENCE: AUDIENCE, JWT_TYPE: options.type ?? 'at+jwt' },
    issuer,
    /** Replaces its keys. */
    replaceKeys: async (keys: readonly Key[]) => void (answer = await make({ ...options, keys })),
    /** Issues an access token to the program. */
    issue: async (): Promise<string> => {
      const body = new URLSearchParams({
        grant_type: 'client_credentials',
        scope: SCOPE,
        ...PROGRAM,
      })
      const response = await fetch(`${issuer}/token`, { method: 'POST', body })
      return String(fields(await response.json())['access_token'])
    },
  }
}

async function configurationOf({ keys, type, redirects = [] }: Options): Promise<object> {
  const secrets = keys.map(async ({ privateKey, kid, alg }) => ({
    ...(await exportJWK(privateKey)),
    kid,
    alg,
    use: 'sig',
  }))
  const resource = {
    scope: SCOPE,
    audience: AUDIENCE,
    accessTokenFormat: 'jwt',
    jwt: { sign: { alg: keys[0]?.alg } },
  }
  return {
    jwks: { keys: await Promise.all(secrets) },
    cookies: { keys: ['a key of the tests'] },
    clientBasedCORS: () => true,
    scopes: ['openid', SCOPE],
    clients: [
      {
        ...PROGRAM,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        token_endpoint_auth_method: 'client_secret_post',
      },
      { client_id: PAGE_CLIENT, redirect_uris: redirects, token_endpoint_auth_method: 'none' },
    ],
    features: {
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => AUDIENCE,
        useGrantedResource: () => true,
        getResourceServerInfo: () => resource,
      },
    },
    ...(type && { formats: { customizers: { jwt: setType } } }),
  }

  /** Changes a JWT before it is signed. */
  function setType(_context: unknown, _token: unknown, jwt: { header?: object }): void {
    jwt.header = { ...jwt.header, typ: type }
  }
}
