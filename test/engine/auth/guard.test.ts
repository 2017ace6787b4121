import { readFileSync, writeFileSync } from 'node:fs'
import { pino } from 'pino'
import t from 'tap'
import { buildApp } from '../../../service/engine/app.ts'
import { OPENAPI } from '../../support/own.ts'
import { product } from '../../support/product/product.ts'
import { readConfig } from '../../../service/engine/config.ts'
import { build } from '../../support/helper.ts'

// operations.test.ts sends every kind of bad credentials to every operation that the contract guards.
const { call, raw, store, token } = await build(t)
const valid = await token('auth')

t.test('an access token is required to create, list and delete plants', async (t) => {
  for (const [method, path] of [
    ['POST', '/plants'],
    ['GET', '/plants?limit=wrong'],
    ['HEAD', '/plants'],
    ['DELETE', '/plants/wrong'],
  ] as const) {
    for (const [headers, challenge] of [
      [{}, 'Bearer realm="plants"'],
      [{ Authorization: 'Bearer wrong' }, 'Bearer realm="plants", error="invalid_token"'],
    ] as const) {
      const answer = await call({ method, path, headers, ...(method === 'POST' && { body: '{"broken' }) })
      t.equal(answer.status, 401, `${method} ${path} is refused`)
      t.equal(answer.headers['www-authenticate'], challenge, `the challenge of ${method} ${path}`)
    }
  }
})

t.test('the scheme is not case-sensitive', async (t) => {
  for (const scheme of ['bearer', 'BEARER', 'bEaReR']) {
    t.equal((await call({ path: '/plants', headers: { Authorization: `${scheme} ${valid}` } })).status, 200)
  }
})

t.test('401 comes before a byte of the body is read', async (t) => {
  for (const header of ['', 'Authorization: Bearer wrong\r\n', 'Content-Type: text/plain\r\n']) {
    const [answer] = await raw(1, `POST /plants HTTP/1.1\r\nHost: h\r\n${header}Content-Length: 9000000\r\n\r\n`)
    t.equal(answer?.status, 401)
  }
})

t.test('nothing is stored or deleted without a token', async (t) => {
  await call({ method: 'POST', path: '/plants', body: { id: 1, name: 'x' } })
  t.strictSame((await call({ path: '/plants', token: valid })).json, [])
  await call({ method: 'POST', path: '/plants', token: valid, body: { id: 1, name: 'x' } })
  await call({ method: 'DELETE', path: '/plants/1' })
  t.strictSame((await call({ path: '/plants', token: valid })).json, [{ name: 'x' }])
})

t.test('an apiKey scheme accepts access tokens in its header, and only there', async (t) => {
  const bearer = 'type: http\n      scheme: bearer'
  const contract = `${t.testdir()}/openapi.yaml`
  const yaml = readFileSync(OPENAPI, 'utf8')
  writeFileSync(contract, yaml.replace(bearer, 'type: apiKey\n      in: header\n      name: X-Api-Key'))
  const app = await buildApp({
    product,
    config: readConfig('plants', {}),
    store,
    log: pino({ level: 'silent' }),
    contract,
  })
  t.teardown(() => app.close())
  const send = async (headers: Record<string, string | string[]>) => {
    const { statusCode, headers: answered } = await app.inject({ url: '/plants', headers })
    return [statusCode, answered['www-authenticate']]
  }
  const invalid = [401, 'ApiKey realm="plants", error="invalid_token"']
  t.strictSame(await send({ 'x-api-key': valid }), [200, undefined])
  t.strictSame(await send({ authorization: `Bearer ${valid}` }), [401, 'ApiKey realm="plants"'])
  t.strictSame(await send({ 'x-api-key': `Bearer ${valid}` }), invalid)
  t.strictSame(await send({ 'x-api-key': '' }), invalid)
  t.strictSame(await send({ 'x-api-key': [valid, valid] }), invalid)
})
