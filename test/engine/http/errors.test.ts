import { DatabaseSync } from 'node:sqlite'
import Fastify from 'fastify'
import t from 'tap'
import { answerError, usualError } from '../../../service/engine/http/error-answers.ts'
import { build } from '../../support/helper.ts'

t.test(
  'while the store is busy the answer is 503 with Retry-After, nothing is written, and reading goes on',
  async (t) => {
    const { call, token } = await build(t)
    const demo = await token('busy')
    const create = (id: number) => call({ method: 'POST', path: '/plants', token: demo, body: { id, name: 'x' } })
    await create(1)
    const other = new DatabaseSync(`${t.testdirName}/plants.db`)
    for (const begin of ['BEGIN IMMEDIATE', 'BEGIN EXCLUSIVE']) {
      other.exec(begin)
      const refused = [await create(2), await call({ method: 'DELETE', path: '/plants/1', token: demo })]
      for (const { status, headers, json } of refused) {
        t.equal(status, 503)
        t.match(headers['retry-after'], /^[1-9]\d*$/)
        t.strictSame(json, { error: 503, message: 'The store is not available, try again later' })
      }
      t.strictSame((await call({ path: '/plants', token: demo })).json, [{ name: 'x' }])
      other.exec('ROLLBACK')
    }
    other.close()
    t.equal((await create(2)).status, 200, 'it works again')
  },
)

t.test(
  'a refusal that a library throws has its status, and not its message, which may quote the request',
  async (t) => {
    const app = Fastify()
    t.teardown(() => app.close())
    app.decorate('writeError', usualError)
    app.setErrorHandler(answerError)
    app.get('/', () => Promise.reject(Object.assign(new Error('secret'), { statusCode: 413 })))
    t.strictSame((await app.inject('/')).json(), { error: 413, message: 'Payload Too Large' })
  },
)

t.test('what nobody foresaw is 500 and says nothing; the log has it all', async (t) => {
  const { call, log, token } = await build(t)
  const demo = await token('broken')
  const other = new DatabaseSync(`${t.testdirName}/plants.db`)
  other.exec('DROP TABLE plants')
  other.close()
  for (const [method, path] of [
    ['GET', '/plants'],
    ['HEAD', '/plants'],
    ['POST', '/plants'],
    ['DELETE', '/plants/1'],
  ] as const) {
    log.length = 0
    const { status, json } = await call({
      method,
      path,
      token: demo,
      failing: true,
      ...(method === 'POST' && { body: { id: 1, name: 'x' } }),
    })
    t.equal(status, 500, method)
    if (method !== 'HEAD') t.strictSame(json, { error: 500, message: 'Internal Server Error' })
    t.match(
      log.find(({ level }) => level === 50)?.['err'],
      { message: /no such table/, stack: /store\/sqlite/ },
      method,
    )
  }
})
