// The section "Add an operation that needs the store" of service/README.md, done as it says; and an operation without store.
import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { run } from '../support/process.ts'
import { copyProject, NPM } from '../support/project.ts'

const [section = ''] = /^## Add an operation that needs the store$[^]*?(?=^## )/m.exec(
  readFileSync('service/README.md', 'utf8'),
) ?? ['']
const blocks = [...section.matchAll(/^ {3}```\w*\n([^]*?)^ {3}```$/gm)].map(([, text = '']) =>
  text.replaceAll(/^ {3}/gm, ''),
)
const [promise = '', statement = '', sqlite = '', postgres = '', test = '', yaml = '', method = ''] = blocks

/** Needs no token and no store. */
const OPEN = `  /about:
    get:
      tags: [transactions]
      operationId: about
      summary: About
      description: Says what this is.
      security: []
      responses:
        '200':
          description: A text.
          content: { application/json: { schema: { type: string } } }
        default: { $ref: '#/components/responses/Error' }
`
const ABOUT = `  async about(): Promise<Result<'about'>> {
    return { status: 200, body: 'plants' }
  }
`

t.setTimeout(400_000)
/** Who has followed it in the project itself can't do so again. */
const skip =
  readFileSync('openapi.yaml', 'utf8').includes('operationId: searchPlants') && 'openapi.yaml has searchPlants'

t.test(
  'an operation that needs the store, and one that needs neither store nor token, pass all tests',
  { skip },
  async (t) => {
    const folder = copyProject(t)
    const insert = (file: string, before: RegExp, ...texts: string[]) => {
      const text = readFileSync(`${folder}/${file}`, 'utf8')
      t.match(text, before, file)
      writeFileSync(
        `${folder}/${file}`,
        text.replace(before, (found) => `${texts.join('\n')}\n${found}`),
      )
    }
    insert('service/store/store.ts', /^ {2}\/\*\* .*\n {2}update\(/m, promise.trimEnd())
    insert('service/store/sqlite/statements.ts', /^ {4}update:/m, statement.trimEnd())
    insert('service/store/sqlite/store.ts', /^ {2}update\(/m, sqlite)
    insert('service/store/postgres/store.ts', /^ {2}async update\(/m, postgres)
    insert('test/store/store.test.ts', /^ {2}t\.test\('/m, test)
    insert('openapi.yaml', /^ {2}\/plants\/\{id\}:/m, yaml, OPEN)
    insert('service/plant-service.ts', /^}/m, '', method, ABOUT.trimEnd())
    const npm = async (...words: string[]) => {
      const { code, stdout, stderr } = await run([...NPM, ...words], {}, folder)
      t.equal(code === 0 ? '' : `${code}\n${stdout}${stderr}`, '', words.join(' '))
    }
    await npm('run', 'generate')
    await npm('exec', '--', 'tsc')
    const tests = ['contract/behaviour', 'contract/examples', 'contract/operations', 'store/store'].map(
      (each) => `test/${each}.test.ts`,
    )
    await npm('exec', '--', 'tap', '--disable-coverage', '--reporter=tap', ...tests)
  },
)
