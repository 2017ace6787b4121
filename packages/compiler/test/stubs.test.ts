// `npm run generate -- --stubs FILE` writes a class of stubs.
import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { request } from '../../../test/support/servers/start-product.ts'
import { run, startService } from '../../../test/support/processes/programs.ts'
import { copyProject, putTestProduct } from '../../../test/support/project/copy.ts'
import { issueTokenIn } from '../../../test/support/servers/access-tokens.ts'

const node = (...words: string[]) => [process.execPath, ...words]

t.test('a class has what is missing; it compiles, and is answered 501', async (t) => {
  const folder = copyProject(t)
  putTestProduct(folder)
  const stubs = () =>
    run(node('service/generate.ts', '--stubs', 'service/more-notes.ts'), {}, folder)
  t.match(await stubs(), { code: 1, stderr: 'no operation lacks a method\n' })

  const edit = (file: string, change: (text: string) => string) =>
    writeFileSync(`${folder}/${file}`, change(readFileSync(`${folder}/${file}`, 'utf8')))
  edit('openapi.yaml', (text) =>
    text.replace('operationId: countChanges', 'operationId: count-changes'),
  )
  edit('service/note-service.ts', (text) =>
    text
      .replace(/ {2}async countChanges[^]*?\n {2}}\n/, '')
      .replace('async changeNote', 'async #changeNote')
      .replace(
        'this.#changes = changes\n',
        `this.#changes = changes
    // A constructor may use what open gives, though nothing is opened here.
    const [first] = [...new Array(changes.count('nobody') === 0n ? 1 : 0), \`\${changes.count('a')}\`]
    if (first === undefined) changes.add('nobody', 'none')
`,
      ),
  )
  t.match(await stubs(), {
    code: 0,
    stdout: /service\/more-notes.ts has the class MoreNotes with 2 methods/,
  })
  t.match(await run(node('service/generate.ts', '--stubs', 'service/2-notes.ts'), {}, folder), {
    code: 0,
    stdout: /service\/2-notes.ts has the class Service2Notes with 2 methods/,
  })
  const written = readFileSync(`${folder}/service/more-notes.ts`, 'utf8')
  t.match(
    written,
    /^ {2}\/\/ async changeNote\({ caller, path: { key } }: Request<'changeNote'>\)/m,
  )
  t.match(written, /^ {2}readonly 'count-changes' = notWritten$/m)
  t.match(await stubs(), { code: 1, stderr: /exists: name a new file/ })

  edit('service/note-service.ts', (text) => text.replace(/ {2}async #changeNote[^]*?\n {2}}\n/, ''))
  edit('service/product.ts', (text) =>
    text
      .replace('new PlantService(plants),', 'new MoreNotes(), new PlantService(plants),')
      .replace(/^/, "import { MoreNotes } from './more-notes.ts'\n"),
  )
  const service = `{ "extends": "./tsconfig.json", "include": ["service"], "compilerOptions": { "noUnusedLocals": false } }`
  writeFileSync(`${folder}/service.json`, service)
  const checked = await run(
    node('node_modules/typescript/bin/tsc', '-p', 'service.json'),
    {},
    folder,
  )
  t.match(checked, { code: 0, stdout: '' })
  const file = `${folder}/plants.db`
  const token = await issueTokenIn({ file })
  const environment = { DATABASE_URL: `sqlite:${file}` }
  const { port } = await startService(t, environment, node(`${folder}/service/main.ts`))
  const answer = await request(port, { path: '/notes/a', method: 'PUT', token })
  t.match(answer, {
    status: 501,
    json: { error: 501, message: 'This operation is not written yet' },
  })
  t.equal((await request(port, { path: '/notes/a', method: 'PUT' })).status, 401)
})
