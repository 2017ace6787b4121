import { DatabaseSync } from 'node:sqlite'
import Fastify from 'fastify'
import t from 'tap'
import { answerError, usualError } from '../../../service/engine/http/error-answers.ts'
import { build } from '../../support/helper.ts'

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
  const answer = await call({ path: '/plants', token: demo, failing: true })
  t.match(answer, { status: 500, json: { error: 500, message: 'Internal Server Error' } })
  const faults = log.filter(({ level }) => level === 50)
  t.match(faults, [{ err: { message: /no such table/, stack: /store\/sqlite/ } }])
})
