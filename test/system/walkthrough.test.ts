// The README's sections "Contract and method" and "Add an operation", done as they say.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { type Ended, run, start } from '../support/process.ts'
import { copyProject, eventually, freePort, NPM } from '../support/project.ts'

const [walkthrough = ''] = /^## Contract and method$[^]*?(?=^## Docs)/m.exec(readFileSync('README.md', 'utf8')) ?? []
const [yaml = '', method = '', promised = ''] = [...walkthrough.matchAll(/^ *```\w*\n([^]*?)^ *```$/gm)].map(
  ([, text = '']) => text,
)
const promises = promised.trim().split(/\n */)

/** In the short form, types and tests only; of the tests, those of the rooms that have to do with the contract. */
const isLong = process.env['LONG'] === '1'
const CHECK = isLong ? ['run', 'check'] : ['exec', '--', 'tsc']
const ROOMS = ['test/*.test.ts', 'test/{contract,fuzz,product}/**/*.test.ts']
const TEST = isLong ? ['test'] : ['run', 'test:file', '--', ...globSync(ROOMS)]

t.setTimeout(3_600_000)
/** Who has followed it in the project itself can't do so again. */
const skip = readFileSync('openapi.yaml', 'utf8').includes('operationId: findPlant') && 'openapi.yaml has findPlant'
const folder = copyProject(t)
const port = await freePort()
// git ignores data/, so that the tests of the copy don't take it over.
const environment = { DATABASE_URL: `sqlite:${folder}/data/plants.db`, PORT: String(port) }
const npm = (...words: string[]) => run([...NPM, ...words], environment, folder)
const edit = (file: string, from: RegExp, to: (found: string) => string) => {
  const text = readFileSync(`${folder}/${file}`, 'utf8')
  t.match(text, from)
  writeFileSync(`${folder}/${file}`, text.replace(from, to))
}

t.test('the first edit: everything says what is left to do', { skip }, async (t) => {
  const { child, ended, printed } = await start(t, [...NPM, 'run', 'dev'], environment, folder)
  t.teardown(() => {
    child.kill()
    return ended
  })
  const get = async (path: string) => {
    const headers = { Authorization: `Bearer ${/plant_\w+/.exec(printed.stderr)?.[0]}` }
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers }).catch(() => undefined)
    return (await response?.text()) ?? ''
  }
  await eventually(() => printed.stderr.includes('plant_'))
  edit('openapi.yaml', /^ {2}\/plants\/\{id\}:\n {4}parameters:\n( {6}.*\n)+/m, (found) => found + yaml)
  let answer = ''
  await eventually(
    async () => (answer = await get('/plants/7')) === promises[0],
    () => answer,
  )
  t.match(await get('/openapi.yaml'), 'operationId: findPlant')
  await eventually(() => readFileSync(`${folder}/service/contract.gen.ts`, 'utf8').includes('findPlant: {'))
})

t.test('the check and the start name the missing method', { skip }, async (t) => {
  const checked = await npm(...CHECK)
  t.not(checked.code, 0)
  const [first = ''] = /^\S+: error TS.*\n.*/m.exec(checked.stdout) ?? []
  t.match(first, 'service/product.ts(', 'the first error is where the class is named')
  t.match(first, promises[1])
  t.match(first, /findPlant/)
  const started = await npm('start')
  t.equal(started.code, 1)
  t.match(started.stdout, promises[2])
})

t.test('the second edit: all passes, and the operation works', { skip }, async (t) => {
  t.setTimeout(3_600_000)
  edit('service/plant-service.ts', /^}/m, (found) => `\n${method}${found}`)
  t.equal(failureOf(await npm(...CHECK)), '', CHECK.join(' '))
  t.equal(failureOf(await npm(...TEST)), '', TEST.join(' '))
  const seen = await run([process.execPath, 'test/support/statuses.ts'], environment, folder)
  t.strictSame([seen.code, seen.stderr], [0, ''], 'each declared status was produced')
})

/** The end of what a command has printed, if it has failed. */
function failureOf({ code, stdout, stderr }: Ended): string {
  return code === 0 ? '' : `${code}\n${(stderr + stdout).split('\n').slice(-30).join('\n')}`
}
