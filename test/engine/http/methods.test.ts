import Fastify from 'fastify'
import t from 'tap'
import { answerError, usualError } from '../../../service/engine/http/error-answers.ts'
import { answerOtherMethods, checkPath } from '../../../service/engine/http/request-rules.ts'
import { allowOf } from '../../support/own.ts'
import { build } from '../../support/helper.ts'

const { call, raw, token } = await build(t)

t.test('405 comes before a byte of the body is read', async (t) => {
  const [answer] = await raw(
    1,
    'TRACE /plants HTTP/1.1\r\nHost: h\r\nContent-Type: x/y\r\nContent-Length: 9000000\r\n\r\n',
  )
  t.equal(answer?.status, 405)
})

t.test('a path without parameters goes before a template that it fits', async (t) => {
  const app = Fastify()
  app.decorate('writeError', usualError)
  app.setErrorHandler(answerError)
  app.addHook('onRequest', checkPath)
  const addOtherMethods = answerOtherMethods(app)
  app.delete('/plants/:id', async () => 'deleted')
  app.post('/plants/search', async () => 'found')
  addOtherMethods()
  const send = async (method: 'POST' | 'DELETE' | 'PUT', url: string) => {
    const { statusCode, headers } = await app.inject({ method, url })
    return [statusCode, headers['allow']]
  }
  t.strictSame(await send('POST', '/plants/search'), [200, undefined])
  t.strictSame(await send('DELETE', '/plants/7'), [200, undefined])
  t.strictSame(await send('DELETE', '/plants/search'), [405, 'OPTIONS, POST'])
  t.strictSame(await send('PUT', '/plants/search'), [405, 'OPTIONS, POST'])
  t.strictSame(await send('POST', '/plants/7'), [405, 'DELETE, OPTIONS'])
  for (const method of ['DELETE', 'POST', 'PUT'] as const)
    t.strictSame(await send(method, '/plants/'), [404, undefined])
  await app.close()
})

t.test('a method that Node does not know is malformed', async (t) => {
  for (const method of ['FOO', 'get', 'GETS']) {
    t.equal((await raw(1, `${method} /plants HTTP/1.1\r\nHost: h\r\n\r\n`))[0]?.status, 400, method)
  }
})

const UNKNOWN = [
  '/nowhere',
  '//',
  '/plants/',
  '/plants/7/',
  '/plants/7/x',
  '//plants',
  '/Plants',
  '/plants;x=1',
  '/plants%2f7',
  '/plants%2F',
  '/plants%00',
  '/metrics',
]
for (const DOCS of ['on', 'off']) {
  t.test(`an unknown path is 404 for every method, with or without a token, with DOCS=${DOCS}`, async (t) => {
    const { call, raw, token } = await build(t, { DOCS })
    const demo = await token('demo')
    for (const path of [...UNKNOWN, ...(DOCS === 'off' ? ['/', '/?x=1', '/docs', '/docs/'] : [])]) {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS', 'TRACE']) {
        t.equal((await call({ method, path })).status, 404, `${method} ${path}`)
      }
      t.equal((await call({ path, token: demo })).status, 404, path)
    }
    t.equal((await raw(1, 'OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n'))[0]?.status, 204, 'asterisk form')
  })
}

t.test('the root leads to the docs page, and has no other method', async (t) => {
  for (const method of ['POST', 'DELETE', 'TRACE']) {
    const { status, headers } = await call({ method, path: '/' })
    t.strictSame([status, headers.allow], [405, 'GET, HEAD, OPTIONS'], method)
  }
})

t.test('a percent-encoded spelling is the same path', async (t) => {
  const demo = await token('demo')
  const [answer] = await raw(1, 'QUERY /%70lants HTTP/1.1\r\nHost: h\r\n\r\n')
  t.equal(answer?.status, 405)
  t.equal(answer?.headers['allow'], allowOf('/plants'))
  t.equal((await call({ method: 'DELETE', path: '/%70lants/%37', token: demo })).status, 404)
  t.equal((await call({ method: 'DELETE', path: '/plants/%2B7', token: demo })).status, 400)
  for (const path of ['/plants/%zz', '/plants/%ff', '/plants/%']) {
    t.equal((await call({ method: 'DELETE', path, token: demo })).status, 400, path)
  }
})
