import { DatabaseSync } from 'node:sqlite'
import Fastify from 'fastify'
import t from 'tap'
import { answerError, usualError } from '../../../service/engine/http/error-answers.ts'
import { build } from '../../support/helper.ts'

t.test('while the store is busy the answer is 503, nothing is written, and reading goes on', async (t) => {
  const { call, token } = await build(t)
  const demo = await token('busy')
  const create = (id: number) => call({ method: 'POST', path: '/plants', token: demo, body: { id, name: 'x' } })
  await create(1)
  const other = new DatabaseSync(`${t.testdirName}/plants.db`)
  other.exec('BEGIN EXCLUSIVE')
  for (const answer of [await create(2), await call({ method: 'DELETE', path: '/plants/1', token: demo })]) {
    const json = { error: 503, message: 'The store is not available, try again later' }
    t.match(answer, { status: 503, headers: { 'retry-after': /^[1-9]\d*$/ }, json })
  }
  t.strictSame((await call({ path: '/plants', token: demo })).json, [{ name: 'x' }])
  other.close()
  t.equal((await create(2)).status, 200, 'it works again')
})

t.test('a refusal that a library throws has its status, but not its message', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.decorate('writeError', usualError)
  app.setErrorHandler(answerError)
  app.get('/', () => Promise.reject(Object.assign(new Error('secret'), { statusCode: 413 })))
  t.strictSame((await app.inject('/')).json(), { error: 413, message: 'Payload Too Large' })
})

t.test('what nobody foresaw is 500 and says nothing; the log has it all', async (t) => {
  const { call, log, token } = await build(t)
  const demo = await token('broken')
  new DatabaseSync(`${t.testdirName}/plants.db`).exec('DROP TABLE plants')
  for (const request of [
    { path: '/plants' },
    { method: 'POST', path: '/plants', body: { id: 1, name: 'x' } },
    { method: 'DELETE', path: '/plants/1' },
  ]) {
    log.length = 0
    const answer = await call({ ...request, token: demo, failing: true })
    t.match(answer, { status: 500, json: { error: 500, message: 'Internal Server Error' } })
    const fault = log.find(({ level }) => level === 50)?.['err']
    t.match(fault, { message: /no such table/, stack: /store\/sqlite/ }, request.path)
  }
})
