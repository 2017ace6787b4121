// A second product with two collections and two classes, in its own process.
// packages/testing/test/second.test.ts has its requests.
import { once } from 'node:events'
import t from 'tap'
import { issueTokenIn } from '../../../test/support/servers/access-tokens.ts'
import { request } from '../../../test/support/servers/start-product.ts'
import { startPostgres } from '../../../test/support/postgres/server.ts'
import { program, run, startService } from '../../../test/support/processes/programs.ts'
import { FIRST_COUNT } from '../../../test/support/product/note-service.ts'

const server = await startPostgres(t)

t.test('its items survive a kill, and are copied to the other engine', async (t) => {
  const file = `${t.testdir()}/second.db`
  const url = await server.createDatabase()
  const token = await issueTokenIn({ file })
  const listed = (port: number) =>
    Promise.all(
      ['/notes', '/plants'].map(async (path) => (await request(port, { path, token })).json),
    )
  const service = await startService(t, { DATABASE_URL: `sqlite:${file}` })
  const { port } = service
  const notes = ['b', 'ä', 'a'].map((key) => ({
    path: '/notes',
    body: { key, text: `text of ${key}` },
  }))
  const plants = [2n ** 53n + 1n, -1n].map((id) => ({
    path: '/plants',
    body: { id, name: `${id}` },
  }))
  for (const item of [...notes, ...plants])
    t.equal((await request(port, { method: 'POST', ...item, token })).status, 200)
  const change = async (path: string) => (await request(port, { method: 'PUT', path, token })).json
  t.strictSame(await change('/notes/a'), { text: 'text of a', count: FIRST_COUNT + 1n })
  t.strictSame(await change('/plants/-1'), { name: '-1+' })
  t.equal((await request(port, { method: 'DELETE', path: '/notes/b', token })).status, 204)
  const expected = [
    [
      { text: 'text of a', count: FIRST_COUNT + 1n },
      { text: 'text of ä', count: FIRST_COUNT },
    ],
    [{ name: '-1+' }, { name: `${2n ** 53n + 1n}` }],
  ]
  t.strictSame(await listed(port), expected)
  service.child.kill('SIGKILL')
  await once(service.child, 'exit')

  const copied = await run(program('copy', `sqlite:${file}`), { DATABASE_URL: url })
  t.match(copied, { code: 0, stdout: '2 plants, 2 notes, and 1 tokens are copied\n' })
  for (const DATABASE_URL of [`sqlite:${file}`, url]) {
    const again = await startService(t, { DATABASE_URL })
    t.strictSame(await listed(again.port), expected)
  }
})
