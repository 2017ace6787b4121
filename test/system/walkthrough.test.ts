// The README's sections "Contract and method" and "Add an operation", done as they say.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { run, start } from '../support/process.ts'
import { eventually, freePort, NPM } from '../support/project.ts'
import { blocksOf, copyToFollow, skipAfter } from './walkthrough.ts'

const [yaml = '', method = '', promised = ''] = blocksOf('README.md', 'Contract and method', '## Docs')
const promises = promised.trim().split(/\n */)

const skip = skipAfter('findPlant')
const port = await freePort()
const environment = { PORT: String(port) }
const { folder, npm, edit, passes } = copyToFollow(t, environment)

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
  const checked = await npm('exec', '--', 'tsc')
  t.not(checked.code, 0)
  const [first = ''] = /^\S+: error TS.*\n.*/m.exec(checked.stdout) ?? []
  t.match(first, 'service/product.ts(', 'the first error is where the class is named')
  t.match(first, promises[1])
  t.match(first, /findPlant/)
  const started = await npm('start')
  t.equal(started.code, 1)
  t.match(started.stdout, promises[2])
})

t.test('the second edit: all passes, and the operation works', { skip, timeout: 3_600_000 }, async (t) => {
  edit('service/plant-service.ts', /^}/m, (found) => `\n${method}${found}`)
  await passes(t)
  const { code, stderr } = await run([process.execPath, 'test/support/statuses.ts'], environment, folder)
  t.strictSame([code, stderr], [0, ''], 'each declared status was produced')
})
