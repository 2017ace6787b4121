// The section "Add a resource" of service/engine/README.md, done as it says; and an operation without store.
import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { run } from '../support/process.ts'
import { copyProject, NPM } from '../support/project.ts'

const [section = ''] = /^## Add a resource$[^]*?(?=^## )/m.exec(readFileSync('service/engine/README.md', 'utf8')) ?? [
  '',
]
const blocks = [...section.matchAll(/^ {3}```\w*\n([^]*?)^ {3}```$/gm)].map(([, text = '']) =>
  text.replaceAll(/^ {3}/gm, ''),
)
const [paths = '', schema = '', bodies = '', response = '', product = '', service = ''] = blocks

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
const skip = readFileSync('openapi.yaml', 'utf8').includes('operationId: listGardens') && 'openapi.yaml has listGardens'

t.test(
  'a second resource, and an operation that needs neither store nor token, pass the tests of the contract',
  { skip },
  async (t) => {
    const folder = copyProject(t)
    const edit = (file: string, place: RegExp, replace: (found: string) => string) => {
      const text = readFileSync(`${folder}/${file}`, 'utf8')
      t.match(text, place, file)
      writeFileSync(`${folder}/${file}`, text.replace(place, replace))
    }
    edit('openapi.yaml', /^ {2}\/plants\/\{id\}:/m, (found) => paths + OPEN + found)
    edit('openapi.yaml', /^ {2}schemas:\n/m, (found) => found + schema)
    edit('openapi.yaml', /^components:\n/m, (found) => found + bodies)
    edit('openapi.yaml', /^ {2}responses:\n/m, (found) => found + response)
    edit('service/product.ts', /^ {2}collections: .*\n {2}services: .*\n/m, () => product)
    edit('service/product.ts', /{ PlantService }/, () => '{ GardenService, PlantService }')
    edit('service/plant-service.ts', /^}/m, (found) => ABOUT + found + '\n' + service)
    edit('service/plant-service.ts', /^/, () => "import { isDeepStrictEqual } from 'node:util'\n")
    const npm = async (...words: string[]) => {
      const { code, stdout, stderr } = await run([...NPM, ...words], {}, folder)
      t.equal(code === 0 ? '' : `${code}\n${stdout}${stderr}`, '', words.join(' '))
    }
    await npm('run', 'generate')
    await npm('exec', '--', 'tsc')
    const tests = ['behaviour', 'examples', 'operations'].map((each) => `test/contract/${each}.test.ts`)
    await npm('exec', '--', 'tap', '--disable-coverage', '--reporter=tap', ...tests)
  },
)
