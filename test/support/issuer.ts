// An identity provider in a separate process: tests can stop, kill and restart it.
import { once } from 'node:events'
import http from 'node:http'
import { buffer } from 'node:stream/consumers'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import type { Test } from 'tap'
import { freePort } from './project.ts'
import { start } from './process.ts'

/** A key pair. The identity provider publishes its public half. */
export interface Key {
  readonly alg: string
  readonly kid: string
  readonly privateKey: CryptoKey
  readonly publicKey: CryptoKey
  readonly jwk: JWK
}

export interface Issuer {
  /** Its name, the `iss` of its tokens. */
  readonly name: string
  /** The environment of a service that trusts it. */
  readonly environment: Record<'JWT_ISSUER' | 'JWT_AUDIENCE' | 'JWKS_URL', string>
  /** Publishes these keys, and no others. */
  readonly publish: (keys: readonly Key[]) => Promise<void>
  /** Replaces the keys by another answer. */
  readonly answer: (status: number, body: string) => Promise<void>
  /** How many times its keys were fetched. */
  readonly fetches: () => Promise<number>
  readonly signal: (signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL') => void
  readonly start: () => Promise<void>
}

export const AUDIENCE = 'https://plants.example'

/** Makes a key pair. The published key names no algorithm: the service must restrict it. @param alg such as RS256 */
export async function makeKey(alg: string, kid: string): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { alg, kid, privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), kid, use: 'sig' } }
}

/** Claims that are valid now. */
export function claimsOf(issuer: string, sub: string) {
  const now = Math.floor(Date.now() / 1000)
  return { iss: issuer, aud: AUDIENCE, sub, iat: now, exp: now + 300, client_id: 'test', jti: `${Math.random()}` }
}

/** Signs claims. The header names the key's id and algorithm. An undefined claim or header field is left out. */
export function sign(key: Key, claims: object, header: object = {}): Promise<string> {
  const protectedHeader = { alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header }
  return new SignJWT({ ...claims }).setProtectedHeader(protectedHeader).sign(key.privateKey)
}

/** Starts an identity provider, and ends it with the test. */
export async function startIssuer(t: Test): Promise<Issuer> {
  const port = await freePort()
  const name = `http://127.0.0.1:${port}`
  const begin = async () => {
    const started = await start(t, [process.execPath, 'test/support/issuer.ts', String(port)], {})
    await started.until(/listening/)
    return started
  }
  let { child, ended } = await begin()
  const answer = async (status: number, body: string) => {
    await fetch(`${name}/?status=${status}`, { method: 'PUT', body })
  }
  return {
    name,
    environment: { JWT_ISSUER: name, JWT_AUDIENCE: AUDIENCE, JWKS_URL: `${name}/keys` },
    publish: (keys) => answer(200, JSON.stringify({ keys: keys.map(({ jwk }) => jwk) })),
    answer,
    fetches: async () => Number(await (await fetch(name)).text()),
    signal: (signal) => child.kill(signal),
    start: async () => {
      await ended
      ;({ child, ended } = await begin())
    },
  }
}

/** Runs in the process. `/keys` answers what was PUT last; any other path, how often the keys were fetched. */
async function serve(port: number): Promise<void> {
  let status = 404
  let body: Buffer = Buffer.alloc(0)
  let fetches = 0
  const server = http.createServer((request, response) => {
    void (async () => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://issuer')
      if (request.method === 'PUT') {
        status = Number(searchParams.get('status'))
        body = await buffer(request)
        response.end()
      } else if (pathname === '/keys') {
        fetches += 1
        response.writeHead(status, { 'content-type': 'application/json' }).end(body)
      } else response.end(String(fetches))
    })()
  })
  // Where a test stops the clocks, its client does not notice that a kept connection is closed.
  server.keepAliveTimeout = 600_000
  await once(server.listen(port, '127.0.0.1'), 'listening')
  console.log('listening')
}

if (import.meta.main) await serve(Number(process.argv[2]))
