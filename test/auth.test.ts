import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { build } from './helper.ts'

const { call, raw, store, token } = await build(t)
const NO_CREDENTIALS = 'Bearer realm="plants"'
const INVALID = 'Bearer realm="plants", error="invalid_token"'

const valid = await token('auth')
const expired = await token('auth', 1)
const revoked = await token('revoked')
const found = (await store.listTokens()).find(({ caller }) => caller === 'revoked')
await store.deleteToken(found?.id ?? '')
await delay(5)

const refused: Record<string, [headers: string[], challenge: string]> = {
  'no credentials': [[], NO_CREDENTIALS],
  'an empty header': [['Authorization', ''], INVALID],
  'another scheme': [['Authorization', 'Basic YTpi'], INVALID],
  'the scheme alone': [['Authorization', 'Bearer'], INVALID],
  'the scheme and a space': [['Authorization', 'Bearer '], INVALID],
  'a token alone': [['Authorization', valid], INVALID],
  'the scheme run into the token': [['Authorization', `Bearer${valid}`], INVALID],
  'a tab for the space': [['Authorization', `Bearer\t${valid}`], INVALID],
  'a malformed token': [['Authorization', 'Bearer constructor'], INVALID],
  'a token of capital letters': [['Authorization', `Bearer ${valid.toUpperCase()}`], INVALID],
  'a token cut short': [['Authorization', `Bearer ${valid.slice(0, -1)}`], INVALID],
  'a token and more': [['Authorization', `Bearer ${valid}, Bearer ${valid}`], INVALID],
  'an unknown token': [['Authorization', `Bearer plant_${'0'.repeat(40)}1d0bfd5b`], INVALID],
  'an expired token': [['Authorization', `Bearer ${expired}`], INVALID],
  'a revoked token': [['Authorization', `Bearer ${revoked}`], INVALID],
  'two headers': [['Authorization', `Bearer ${valid}`, 'authorization', `Bearer ${valid}`], INVALID],
  'an empty header and a valid one': [['Authorization', '', 'Authorization', `Bearer ${valid}`], INVALID],
}
for (const [name, [headers, challenge]] of Object.entries(refused)) {
  t.test(`${name}: 401 on all operations, with the challenge`, async (t) => {
    for (const [method, path] of [
      ['POST', '/plants'],
      ['GET', '/plants?limit=wrong'],
      ['HEAD', '/plants'],
      ['DELETE', '/plants/wrong'],
    ] as const) {
      const body = method === 'POST' ? { body: '{"broken' } : {}
      const answer = await call({ method, path, headers, ...body })
      t.equal(answer.status, 401, method)
      t.equal(answer.headers['www-authenticate'], challenge, method)
    }
  })
}

t.test('the scheme is compared without case', async (t) => {
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
