// Looks for access tokens in the log of the process.
import t from 'tap'
import { call } from '../../support/helper.ts'
import { program, run, startService } from '../../support/process.ts'
import { eventually } from '../../support/project.ts'

/** The secret part of an access token. */
const secretOf = (text: string) => /plant_(\w{40})\w{8}/.exec(text)?.[1] ?? 'no token'

t.test('no token is logged, at any level, in any part of a request', async (t) => {
  const environment = { DATABASE_URL: `sqlite:${t.testdir()}/plants.db`, NODE_ENV: 'production', LOG_LEVEL: 'trace' }
  const { port, printed } = await startService(t, environment)
  const issued = await run(program('token', 'issue', 'joe'), environment)
  const token = issued.stdout.trim()
  const wrong = token.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  for (const each of [token, wrong]) {
    const headers = { 'X-Request-Id': `a.${each}`, Referer: each, Cookie: each }
    await call(port, { path: `/plants?limit=${each}`, token: each, headers })
    await call(port, { path: `/plants?cursor=${each}`, headers })
    await call(port, { path: '/plants', headers: { Authorization: `Basic ${each}` } })
    await call(port, { path: `/${each}` })
    await call(port, { method: 'DELETE', path: `/plants/${each}`, token: each })
    await call(port, { method: 'POST', path: '/plants', token: each, body: `{"${each}":"${each}"` })
    await call(port, { method: 'POST', path: '/plants', token: each, body: { [each]: each } })
    await call(port, { path: '/plants', headers: ['Host', each, 'Host', each] })
  }
  await eventually(() => (printed.stdout.match(/"msg":"request"/g) ?? []).length === 16)
  t.notOk(printed.stdout.includes(secretOf(token)))
  t.equal(printed.stderr, '')
})
