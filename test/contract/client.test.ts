import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { build } from '../support/helper.ts'
import { run } from '../support/process.ts'

const { client, port, token } = await build(t)
const mine = client(await token('client'))

t.test('a client of the generated types creates, lists and deletes, with exact ids', async (t) => {
  const id = 9007199254740993n
  const { data } = await mine.POST('/plants', { body: { id, name: 'Rose' } })
  t.strictSame(data, { name: 'Rose' })
  t.strictSame((await mine.GET('/plants', { params: { query: { limit: 1 } } })).data, [{ name: 'Rose' }])
  t.equal((await mine.DELETE('/plants/{id}', { params: { path: { id: id - 1n } } })).response.status, 404)
  t.equal((await mine.DELETE('/plants/{id}', { params: { path: { id } } })).response.status, 204)
})

t.test('what the contract does not have does not compile', async (t) => {
  const wrong = [
    // @ts-expect-error there is no such path
    () => mine.GET('/plant'),
    // @ts-expect-error the path has no such method
    () => mine.PUT('/plants'),
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

t.test("the README's client is made from /openapi.yaml, compiles and works", async (t) => {
  const [section = ''] = /^## Call it from TypeScript$[^]*?(?=^## )/m.exec(readFileSync('README.md', 'utf8')) ?? []
  const [commands = '', code = ''] = [...section.matchAll(/^```\w+\n([^]*?)^```$/gm)].map(([, text = '']) =>
    text.replaceAll(':3000', `:${port}`),
  )
  const folder = t.testdir({
    'tsconfig.json': JSON.stringify({ extends: '../../../tsconfig.json', include: ['*.ts'] }),
  })
  const [, generate = ''] = /^npx (.*)$/m.exec(commands) ?? []
  const generated = await run(
    [`${process.cwd()}/node_modules/.bin/${generate.split(' ')[0]}`, ...generate.split(' ').slice(1)],
    {},
    folder,
  )
  t.equal(generated.code, 0, generated.stderr)

  writeFileSync(`${folder}/right.ts`, `${code}console.log(JSON.stringify(data), error)\n`)
  writeFileSync(`${folder}/wrong.ts`, `${code.replace('limit:', 'limits:')}console.log(data, error)\n`)
  const { stdout } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', folder], {
    encoding: 'utf8',
  })
  t.match(stdout.trim(), /^[^\n]*wrong\.ts[^\n]*'limits' does not exist[^\n]*$/)
  const ran = await run([process.execPath, 'right.ts'], { TOKEN: await token('reader') }, folder)
  t.strictSame([ran.stdout, ran.stderr], ['[] undefined\n', ''])
})
