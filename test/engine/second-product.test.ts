// Another product on the same service, with two collections and two classes, and no changed line elsewhere.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import t from 'tap'
import { issueToken } from '../support/tokens.ts'
import { request } from '../support/helper.ts'
import { startPostgres } from '../support/postgres.ts'
import { run, startService } from '../support/process.ts'
import { copyAsSecondProduct, FIRST_COUNT } from '../support/second-product.ts'
import { openTestStore } from '../support/stores.ts'

const server = await startPostgres(t)
const folder = copyAsSecondProduct(t)
const main = [process.execPath, `${folder}/service/main.ts`]

t.test('it compiles', async (t) => {
  writeFileSync(`${folder}/tsconfig.service.json`, '{ "extends": "./tsconfig.json", "include": ["service"] }')
  const words = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.service.json']
  t.doesNotThrow(() => execFileSync(process.execPath, words, { cwd: folder, encoding: 'utf8' }))
})

t.test('its items survive a kill, and are copied to the other engine', async (t) => {
  const file = `${t.testdir()}/second.db`
  const url = await server.createDatabase()
  const store = await openTestStore({ file })
  const token = await issueToken(store, 'joe')
  await store.close()
  /** Asks a service for its notes and plants. */
  const listed = async (port: number) => {
    const lists = ['/notes', '/plants'].map(async (path) => (await request(port, { path, token })).json)
    return Promise.all(lists)
  }
  const service = await startService(t, { DATABASE_URL: `sqlite:${file}` }, main)
  const { port } = service
  const notes = ['b', 'ä', 'a'].map((key) => ({
    method: 'POST',
    path: '/notes',
    body: { key, text: `text of ${key}` },
  }))
  const plants = [2n ** 53n + 1n, -1n].map((id) => ({ method: 'POST', path: '/plants', body: { id, name: `${id}` } }))
  for (const each of [...notes, ...plants]) t.equal((await request(port, { ...each, token })).status, 200)
  const none = { 'Content-Length': '0' } // Node would send no length, but an empty body in chunks
  const change = async (path: string) => (await request(port, { method: 'PUT', path, token, headers: none })).json
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

  const copied = await run([process.execPath, `${folder}/service/copy.ts`, `sqlite:${file}`], { DATABASE_URL: url })
  t.match(copied, { code: 0, stdout: '2 plants, 2 notes, and 1 tokens are copied\n' })
  for (const DATABASE_URL of [`sqlite:${file}`, url]) {
    const again = await startService(t, { DATABASE_URL }, main)
    t.strictSame(await listed(again.port), expected)
  }
})
