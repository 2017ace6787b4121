// The README's sections "Contract and method" and "Add an operation", and service/docs/add-a-resource.md, done as they say in
// copies of the project; and services of their own that `npm run new` makes, one of them the library of
// service/docs/data-that-belongs-together.md, one upgraded as packages/compiler/UPGRADE.md says.
import { copyFileSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { run, start } from '../support/processes/programs.ts'
import { copyProject, FOR_REGISTRY, NPM } from '../support/project/copy.ts'
import { eventually } from '../support/processes/eventually.ts'
import { freePort } from '../support/network/ports.ts'

t.setTimeout(3_600_000)
t.jobs = 3

/** In the short form: the types, and only the tests of the project's contract. */
const isLong = process.env['LONG'] === '1'
const CHECK = isLong ? ['run', 'check'] : ['exec', '--', 'tsc']
const TESTS = ['test/{readme,rooms,contract,methods,plant-*}.test.ts']
/** The npm scripts that must pass in a copy of the project, and in a new service. */
const OF_PROJECT = [CHECK, isLong ? ['test'] : ['run', 'test:file', '--', ...globSync(TESTS)]]
const OF_SERVICE = [['run', 'check'], ['test']]
/** The version to which a service is upgraded. */
const NEXT = '999.0.0'

const [yaml = '', method = '', promised = ''] = blocksOf(
  'README.md',
  'Contract and method',
  '## Docs',
)
const promises = promised.trim().split(/\n */)
const RESOURCE = 'service/docs/add-a-resource.md'
const added = blocksOf(RESOURCE, 'The steps')
const [textKey] = blocksOf(RESOURCE, 'Keys and cursors')
const [failure = ''] = blocksOf('service/docs/guards-and-errors.md', 'Errors')
const [install = '', , checkAll = ''] = blocksOf(
  'packages/compiler/UPGRADE.md',
  'To a newer version',
)

t.test('an operation is added', { skip: skipAfter('findPlant') }, async (t) => {
  const port = await freePort()
  const environment = { PORT: String(port) }
  const { folder, npm, edit, passes } = copyToFollow(t, environment)

  t.test('the first edit: everything says what is left to do', async (t) => {
    const command = [...NPM, 'run', 'dev']
    const { child, ended, printed } = await start(t, command, environment, { cwd: folder })
    t.teardown(() => {
      child.kill()
      return ended
    })
    const get = async (path: string) => {
      const headers = { Authorization: `Bearer ${/plant_\w+/.exec(printed.stderr)?.[0]}` }
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers }).catch(
        () => undefined,
      )
      return (await response?.text()) ?? ''
    }
    await eventually(() => printed.stderr.includes('plant_'))
    edit(
      'openapi.yaml',
      /^ {2}\/plants\/\{id\}:\n {4}parameters:\n( {6}.*\n)+/m,
      (match) => match + yaml,
    )
    let answer = ''
    await eventually(
      async () =>
        (answer = await get('/plants/7')).startsWith(String(promises[0]).replace('…', '')),
      () => answer,
    )
    t.match(await get('/openapi.yaml'), 'operationId: findPlant')
    await eventually(() =>
      readFileSync(`${folder}/service/contract.gen.ts`, 'utf8').includes('findPlant: {'),
    )
  })

  t.test('the check and the start name the missing method', async (t) => {
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

  t.test(
    'the second edit: all passes, and the operation works',
    { timeout: 3_600_000 },
    async (t) => {
      edit('service/plant-service.ts', /^}/m, (match) => `\n${method}${match}`)
      await passes(t)
      const program = `import { missingStatuses } from './packages/testing/src/answers/missing-statuses.ts'
import { product } from './service/product.ts'
console.log(await missingStatuses(product))`
      const command = [process.execPath, '--input-type=module', '--eval', program]
      const { stdout, stderr } = await run(command, environment, folder)
      t.strictSame([stdout, stderr], ['[]\n', ''], 'each declared status was produced')
    },
  )
})

t.test('a second resource is added', { skip: skipAfter('listGardens') }, async (t) => {
  const [
    paths = '',
    schema = '',
    bodies = '',
    response = '',
    imported = '',
    product = '',
    service = '',
  ] = added
  const { edit, npm, passes } = copyToFollow(t)
  t.ok(service.trim().split('\n').length <= 25, 'the class has at most 25 lines')
  edit('openapi.yaml', /^ {2}\/plants\/\{id\}:/m, (match) => paths + match)
  edit('openapi.yaml', /^ {2}schemas:\n/m, (match) => match + schema)
  edit('openapi.yaml', /^components:\n/m, (match) => match + bodies)
  edit('openapi.yaml', /^ {2}responses:\n/m, (match) => match + response)
  edit('service/product.ts', /^ {2}collections: .*\n {2}services: .*\n/m, () => product)
  edit('service/product.ts', /^import { PlantService } .*\n/m, () => imported)
  edit('service/plant-service.ts', /^}/m, (match) => `${match}\n${service.trimEnd()}`)
  t.equal((await npm('run', 'generate')).code, 0)
  await passes(t)
})

/** Documents for new services, by the names of the tests; and a path of each. */
const DOCUMENTS: Readonly<Record<string, readonly [document: string, path: string]>> = {
  'of a small contract': [
    `openapi: 3.1.0
info: { title: Dice, version: 0.1.0 }
paths:
  /rolls: { get: { operationId: roll, responses: { '200': { description: The eyes } } } }
`,
    '/rolls',
  ],
  'of a contract of OpenAPI 3.0': [readFileSync('test/system/museum.yaml', 'utf8'), '/v1/rooms'],
}

for (const [what, [document, path]] of Object.entries(DOCUMENTS)) {
  t.test(`a new service ${what}`, async (t) => {
    const { folder, passes } = await makeService(t, document)
    const port = await freePort()
    const environment = { PORT: String(port) }
    // npm has the service as its child: both end with their group.
    const place = { cwd: folder, isDetached: true }
    const { printed, until } = await start(t, [...NPM, 'start'], environment, place)
    await until(/listening at/)
    await eventually(() => /^ {2}Data {4}\S+\.db$/m.test(printed.stderr)) // it has no collections yet
    const { status } = await fetch(`http://127.0.0.1:${port}${path}`)
    t.equal(status, 501, 'an operation is answered until its method is written')
    await passes(t)
  })
}

t.test('a new service of the contract in test/system/books/, with its methods', async (t) => {
  const contract = readFileSync('test/system/books/openapi.yaml', 'utf8')
  const [books = '', keySchema = ''] = [contract, textKey].map((text) =>
    text?.replaceAll(/^ +/gm, ''),
  )
  t.ok(keySchema !== '' && books.includes(keySchema), 'the schema of a text key in a path')
  const { folder, npm, passes } = await makeService(t, contract)
  await passes(t)

  t.test('its methods are written', { timeout: 3_600_000 }, async (t) => {
    for (const [from, to] of [
      ['product', 'product'],
      ['library', 'library-service'],
    ] as const)
      copyFileSync(`test/system/books/${from}.ts.txt`, `${folder}/service/${to}.ts`)
    writeFileSync(`${folder}/service/failure.ts`, failure)
    t.match(await npm('run', 'generate'), { code: 0 }) // the product names collections now
    t.match(await npm('run', 'format'), { code: 0 }) // the pasted page is not formatted
    await passes(t)
  })

  t.test('it is upgraded by one line', { timeout: 3_600_000 }, async (t) => {
    const newer = await packNextVersion(t)
    const product = readFileSync(`${folder}/service/product.ts`, 'utf8')
    const commands = install.replace('../plant-store', newer)
    for (const command of [commands, checkAll]) {
      const { code, stdout, stderr } = await run(
        ['env', '-u', 'NODE_OPTIONS', 'sh', '-ec', command],
        FOR_REGISTRY,
        folder,
      )
      t.equal(code, 0, `${command}\n${stdout}${stderr}`)
    }
    const installed = readFileSync(
      `${folder}/node_modules/@plant-store/engine/package.json`,
      'utf8',
    )
    t.match(installed, `"version": "${NEXT}"`)
    t.equal(readFileSync(`${folder}/service/product.ts`, 'utf8'), product)
  })
})

t.test('a new service of the library in service/docs/data-that-belongs-together.md', async (t) => {
  const folderOfLibrary = 'test/support/library'
  const { folder, npm, passes } = await makeService(
    t,
    readFileSync(`${folderOfLibrary}/openapi.yaml`, 'utf8'),
  )
  for (const file of globSync(['product.ts', 'library.ts', '*-service.ts'], {
    cwd: folderOfLibrary,
  }))
    copyFileSync(`${folderOfLibrary}/${file}`, `${folder}/service/${file}`)
  t.match(await npm('run', 'generate'), { code: 0 })
  await passes(t)
})

/** Runs `npm run new`, and installs the packages of the new service. */
async function makeService(t: Test, document: string) {
  t.setTimeout(3_600_000)
  t.teardown(() => undefined) // tap removes the folder after it
  const parent = t.testdir({ 'contract.yaml': document })
  const folder = `${parent}/made`
  const command = [...NPM, 'run', 'new', '--', folder, `${parent}/contract.yaml`]
  const { code, stderr } = await run(command, {})
  t.strictSame([code, stderr], [0, ''])
  const service = follow(folder, {}, OF_SERVICE)
  t.match(await service.npm('ci', '--prefer-offline'), { code: 0 })
  return service
}

/** Packs a copy of the project with another version. @returns its folder */
async function packNextVersion(t: Test): Promise<string> {
  const folder = copyProject(t)
  for (const file of globSync('{.,packages/*}/package.json')) {
    const text = readFileSync(file, 'utf8')
    writeFileSync(`${folder}/${file}`, text.replace(/"version": ".*"/, `"version": "${NEXT}"`))
  }
  t.match(await run([...NPM, 'run', 'pack'], {}, folder), { code: 0 })
  return folder
}

/** The code blocks of a section, from its title to the next title of its level. */
function blocksOf(file: string, title: string, end = '## '): string[] {
  const [, text = ''] = readFileSync(file, 'utf8').split(`\n## ${title}\n`)
  const [section = ''] = text.split(`\n${end}`)
  return [...section.matchAll(/^( *)```\w*\n([^]*?)^ *```$/gm)].map(([, indent = '', block = '']) =>
    // A block of a list is indented as its item is. Other blocks than YAML and TypeScript keep their indentation.
    indent === '' ? block : block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
}

/** A section can't be followed again where a person followed it before. */
function skipAfter(operationId: string): string | false {
  const text = readFileSync('openapi.yaml', 'utf8')
  const isFollowed = text.includes(`operationId: ${operationId}`) || !text.includes('/plants/{id}:')
  return isFollowed && 'openapi.yaml is another one'
}

/** Makes a copy of the project in which a section is followed. @param environment of its programs */
function copyToFollow(t: Test, environment: Record<string, string> = {}) {
  t.setTimeout(3_600_000)
  return follow(copyProject(t), environment)
}

/** The steps in the folder of a service. */
function follow(
  folder: string,
  environment: Record<string, string> = {},
  checks: readonly (readonly string[])[] = OF_PROJECT,
) {
  /** Runs npm. */
  const npm = (...words: string[]) => run([...NPM, ...words], environment, folder)
  /** Changes a file at a place, which it must have. */
  const edit = (file: string, place: RegExp, replace: (match: string) => string) => {
    const text = readFileSync(`${folder}/${file}`, 'utf8')
    t.match(text, place, file)
    writeFileSync(`${folder}/${file}`, text.replace(place, replace))
  }
  /** Runs the checks and the tests to the end. Each failed test is one failure, with its name. */
  const passes = async (t: Test) => {
    for (const words of checks) {
      const { code, stdout, stderr } = await npm(...words)
      const what = `npm ${words.slice(0, 3).join(' ')}`
      if (code === 0) continue
      // The whole output goes to the terminal: the report of a test is cut.
      console.error(`${what}\n${stdout}${stderr}`)
      const [, names = stdout.slice(-2000) + stderr.slice(-2000)] =
        /^Failed:\n([^]*)/m.exec(stdout) ?? []
      for (const name of names.trim().split('\n')) t.fail(`${what}: ${name}`)
    }
  }
  return { folder, npm, edit, passes }
}
