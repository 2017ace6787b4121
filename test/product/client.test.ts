import { copyFileSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import t from 'tap'
import { expectedSession, INT64, SAFE } from '../support/generated-clients.ts'
import { run } from '../support/process.ts'
import { start } from './client.ts'

const { client, port, token } = await start(t)
const mine = client(await token('client'))

const DRIVERS = 'test/system/release/clients/typescript'

t.test('a client of the generated types creates, lists and deletes, with exact ids', async (t) => {
  const [missing = 0n, ...ids] = INT64.map(BigInt).toReversed()
  for (const id of ids) {
    t.strictSame((await mine.POST('/plants', { body: { id, name: `Rose ${id}` } })).data, { name: `Rose ${id}` })
  }
  t.strictSame((await mine.GET('/plants', { params: { query: { limit: 1 } } })).data, [{ name: `Rose ${ids.at(-1)}` }])
  t.equal((await mine.DELETE('/plants/{id}', { params: { path: { id: missing } } })).response.status, 404)
  for (const id of ids) {
    t.equal((await mine.DELETE('/plants/{id}', { params: { path: { id } } })).response.status, 204)
  }
})

t.test('what the contract does not have does not compile', async (t) => {
  const wrong = [
    // @ts-expect-error there is no such path
    () => mine.GET('/plant'),
    // @ts-expect-error the path has no such method
    () => mine.TRACE('/plants'),
    // @ts-expect-error no such parameter
    () => mine.GET('/plants', { params: { query: { limits: 1 } } }),
    // @ts-expect-error a parameter of another type
    () => mine.GET('/plants', { params: { query: { limit: '1' } } }),
    // @ts-expect-error a parameter that is missing
    () => mine.DELETE('/plants/{id}'),
    // @ts-expect-error an id that would be rounded
    () => mine.DELETE('/plants/{id}', { params: { path: { id: 7 } } }),
    // @ts-expect-error the body is missing
    () => mine.POST('/plants'),
    // @ts-expect-error a member of the body that is missing
    () => mine.POST('/plants', { body: { id: 7n } }),
    // @ts-expect-error an answer has no id
    async () => (await mine.POST('/plants', { body: { id: 7n, name: 'Rose' } })).data?.id,
  ]
  t.equal(wrong.length, 9)
})

t.test('the clients of the README and of Hey API are generated from /openapi.yaml, compile and work', async (t) => {
  const [section = ''] =
    /^## Call it from TypeScript$[^]*?(?=^## )/m.exec(readFileSync('service/engine/contract/README.md', 'utf8')) ?? []
  const [commands = '', code = ''] = [...section.matchAll(/^```\w+\n([^]*?)^```$/gm)].map(([, text = '']) =>
    text.replaceAll(':3000', `:${port}`),
  )
  const [, readme = ''] = /^npx (.*)$/m.exec(commands) ?? []
  const drivers = ['session.ts', 'openapi-fetch.ts', 'hey-api.ts']
  const folder = t.testdir({
    'package.json': '{ "type": "module" }',
    'right.ts': `${code}console.log(JSON.stringify(data), error)\n`,
    'wrong.ts': `${code.replace('limit:', 'limits:')}console.log(data, error)\n`,
  })
  for (const file of ['tsconfig.json', ...drivers]) copyFileSync(`${DRIVERS}/${file}`, `${folder}/${file}`)
  // npm before 11.19 does not link the Node of the packages.
  const PATH = `${dirname(process.execPath)}:${process.cwd()}/node_modules/.bin:${process.env['PATH']}`
  const execute = (words: string, environment = {}) => run(words.split(' '), { PATH, ...environment }, folder)
  const heyApi = `openapi-ts --input http://127.0.0.1:${port}/openapi.yaml --output hey-api --no-log-file`
  for (const command of [readme, heyApi]) {
    const { code, stderr } = await execute(command)
    t.equal(code, 0, stderr)
  }

  const compiled = await execute('tsc')
  t.match(compiled.stdout.trim(), /^[^\n]*wrong\.ts[^\n]*'limits' does not exist[^\n]*$/)
  const ran = await execute('node built/right.js', { TOKEN: await token('reader') })
  t.strictSame([ran.stdout, ran.stderr], ['[] undefined\n', ''])
  for (const driver of ['openapi-fetch', 'hey-api']) {
    const words = `node built/${driver}.js http://127.0.0.1:${port} ${await token(driver)} ${SAFE.join(' ')}`
    const { stdout, stderr } = await execute(words)
    t.strictSame([stdout, stderr], [expectedSession(SAFE), ''], driver)
  }
})
