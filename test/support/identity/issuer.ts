// An identity provider: tests can stop, kill and restart it like a process.
import { once } from 'node:events'
import http from 'node:http'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import type { Test } from 'tap'
import { freePort } from '../network/ports.ts'

/** A key pair. The identity provider publishes its public half. */
export interface Key {
  readonly alg: string
  readonly kid: string
  readonly privateKey: CryptoKey
  readonly publicKey: CryptoKey
  readonly jwk: JWK
}

export const AUDIENCE = 'https://plants.example'

/** Makes a key pair. The published key names no algorithm: the service must restrict it. @param alg such as RS256 */
export async function makeKey(alg: string, kid: string): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return {
    alg,
    kid,
    privateKey,
    publicKey,
    jwk: { ...(await exportJWK(publicKey)), kid, use: 'sig' },
  }
}

/** Valid claims. */
export function claimsOf(issuer: string, sub: string) {
  const now = Math.floor(Date.now() / 1000)
  return {
    iss: issuer,
    aud: AUDIENCE,
    sub,
    iat: now,
    exp: now + 300,
    client_id: 'test',
    jti: `${Math.random()}`,
  }
}

/** Signs claims. The header names the key's id and algorithm. An undefined claim or header field is left out. */
export function sign(key: Key, claims: object, header: object = {}): Promise<string> {
  const protectedHeader = { alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header }
  return new SignJWT({ ...claims }).setProtectedHeader(protectedHeader).sign(key.privateKey)
}

/** Starts an identity provider, and ends it with the test. @param stated replaces fields of its configuration */
export async function startIssuer(t: Test, stated: { issuer?: unknown; jwks_uri?: unknown } = {}) {
  const port = await freePort()
  const name = `http://127.0.0.1:${port}`
  let [status, body, fetches, isStopped] = [404, '', 0, false]
  const held: (() => void)[] = []
  let configuration: object = { issuer: name, jwks_uri: `${name}/keys`, ...stated }
  const server = http.createServer(({ url }, response) => {
    const isOfKeys = url === '/keys'
    if (isOfKeys) fetches += 1
    const send = () => {
      response.writeHead(isOfKeys ? status : 200, { 'content-type': 'application/json' })
      response.end(isOfKeys ? body : JSON.stringify(configuration))
    }
    if (isStopped) held.push(send)
    else send()
  })
  // In a test with stopped clocks, the client would not notice a closed connection.
  server.keepAliveTimeout = 600_000
  const start = async () => {
    ;[status, body, fetches, isStopped] = [404, '', 0, false]
    await once(server.listen(port, '127.0.0.1'), 'listening')
  }
  const signal = (signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL') => {
    isStopped = signal === 'SIGSTOP'
    if (signal === 'SIGKILL') {
      server.close()
      server.closeAllConnections()
      held.length = 0
    }
    if (signal === 'SIGCONT') for (const send of held.splice(0)) send()
  }
  /** Answers so from now on. */
  const answer = (...next: [status: number, body: string]) => void ([status, body] = next)
  t.teardown(() => signal('SIGKILL'))
  await start()
  return {
    /** Its name, the `iss` of its tokens. */
    name,
    /** The environment of a service with trust in it. */
    environment: { JWT_ISSUER: name, JWT_AUDIENCE: AUDIENCE, JWKS_URL: `${name}/keys` },
    /** Publishes these keys, and no others. */
    publish: (keys: readonly Key[]) =>
      answer(200, JSON.stringify({ keys: keys.map(({ jwk }) => jwk) })),
    answer,
    /** Names another address of its keys from now on. */
    move: (keys: unknown) => void (configuration = { issuer: name, jwks_uri: keys }),
    /** How many times its keys were fetched. */
    fetches: () => fetches,
    signal,
    start,
  }
}
