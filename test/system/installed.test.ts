// The packages as somebody has them who installs them: packed, in a folder outside of the repository, with a contract, a product
// and a class of another trade (test/system/harbour/).
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { linesOf } from '../support/processes/programs.ts'
import { startPostgres } from '../support/postgres/server.ts'
import { eventually } from '../support/processes/eventually.ts'
import { freePort } from '../support/network/ports.ts'
import {
  copyService,
  installService,
  issue,
  type Place,
  runNode,
  serve,
  startNode,
} from './harbour/install.ts'
import { change, put, session, statusOf, textOf } from './harbour/session.ts'

t.setTimeout(1_800_000)
const installed = await installService(t)
const server = await startPostgres(t)
t.jobs = 2

/** The files of the docs page, with their types. */
const DOCS = {
  '/docs/': 'text/html',
  '/docs/static/docs.js': 'application/javascript',
  '/docs/static/js-yaml.min.js': 'application/javascript',
  '/docs/static/swagger-ui-bundle.js': 'application/javascript',
  '/docs/static/swagger-ui.css': 'text/css',
  '/docs/oauth2-redirect.html': 'text/html',
  '/docs/oauth2-redirect.js': 'application/javascript',
  '/openapi.yaml': 'application/yaml',
}
const PROPERTY = 'properties: { length: { type: integer'
const OPERATION = `  /boats/{name}/flag:
    parameters: [{ $ref: '#/components/parameters/Name' }]
    get: { operationId: findFlag, summary: Find flag, responses: { '200': { description: Its flag., content: { text/plain: { schema: { type: string }, example: blue } } }, '400': { $ref: '#/components/responses/Error' }, default: { $ref: '#/components/responses/Error' } } }
components:
`

t.test('the generated file is up to date, and types and linter find nothing', async (t) => {
  const place = copyService(t, installed)
  const { folder } = place
  t.match(await runNode(place, 'service/generate.ts', '--check'), { code: 0, stderr: '' })
  t.match(await runNode(place, 'service/lint.ts', 'openapi.yaml'), { code: 0 })
  t.match(await runTsc(place), { code: 0, stdout: '' })
  const broken = `import { start } from '@plant-store/engine'
import { loadCompiler } from '@plant-store/compiler'
import { testStore } from '@plant-store/store'
import type { Request, Result } from './contract.gen.ts'
import { Harbour } from './harbour.ts'
import { product } from './product.ts'

const { boats, berths } = await testStore(product)
await boats.create('ann', 'Sea', { length: 9 })
await berths.create('ann', 7n, { name: 'Sea' })
export const answers: Result<'findBoat'>[] = [{ status: 200, body: { length: 9 } }]
export const service = new Harbour(boats, berths)
export const text = (request: Request<'leaveBerth'>): bigint => request.path.berth
export const run = () => start(product, loadCompiler)
`
  writeFileSync(`${folder}/service/types.ts`, broken)
  t.match(await runTsc(place), { code: 0, stdout: '' })
  const faults: Record<string, [string, string]> = {
    'an item of another type': ['{ length: 9 })', "{ length: '9' })"],
    'a key of another type': ["'ann', 7n", "'ann', '7'"],
    'a status that the contract does not have': ['status: 200', 'status: 418'],
    'a body without a property': ['body: { length: 9 }', 'body: {}'],
    'collections in another order': ['(boats, berths)', '(berths, boats)'],
    'a parameter of another type': ['): bigint', '): number'],
    'an operation that is not there': ["Request<'leaveBerth'>", "Request<'leave'>"],
    'what is no compiler': ['product, loadCompiler', 'product, testStore'],
    'a file inside of a package': ["'@plant-store/store'", "'@plant-store/store/dist/index.js'"],
  }
  for (const [index, [from, to]] of Object.values(faults).entries())
    writeFileSync(`${folder}/service/broken${index}.ts`, broken.replace(from, to))
  const { code, stdout } = await runTsc(place)
  t.equal(code, 2)
  for (const [index, what] of Object.keys(faults).entries())
    t.match(stdout, `service/broken${index}.ts(`, what)
})

t.test('files inside of a package can not be imported', async (t) => {
  const place = copyService(t, installed)
  const packages = join(installed.folder, 'node_modules/@plant-store')
  const files = globSync('*/dist/**/*.js', { cwd: packages })
  t.ok(files.length > 100)
  const names = files.flatMap((file) => [
    file,
    file.replace('/dist/', '/src/'),
    file.replace('dist/', ''),
  ])
  const code = `const codes = await Promise.all(${JSON.stringify(names)}.map((name) =>
    import('@plant-store/' + name).then(() => name, ({ code }) => code)))
  console.log([...new Set(codes)].join())`
  const { stdout } = await runNode(place, '--input-type=module', '--eval', code)
  t.equal(stdout, 'ERR_PACKAGE_PATH_NOT_EXPORTED\n')
})

t.test('the docs page has all its files', async (t) => {
  const { origin } = await serve(t, copyService(t, installed))
  for (const [path, type] of Object.entries(DOCS)) {
    const response = await fetch(`${origin}${path}`)
    t.match([response.status, response.headers.get('content-type')], [200, type], path)
    t.ok((await response.arrayBuffer()).byteLength > 100, path)
  }
})

for (const name of ['SQLite', 'PostgreSQL']) {
  t.test(`the service, its tokens and a kill -9 on ${name}`, async (t) => {
    const place = copyService(t, installed)
    const database = name === 'SQLite' ? undefined : await server.createDatabase()
    const { origin, token, environment, child, ended } = await serve(t, place, database)
    const here = { ...place, environment }
    await session(t, origin, token)
    const second = await issue(here)
    const list = await runNode(here, 'service/token.ts', 'list')
    const [id = ''] = list.stdout.trim().split('\n').at(-1)?.split('\t') ?? []
    t.match(await runNode(here, 'service/token.ts', 'revoke', id), { code: 0 })
    const findWith = (text: string) => statusOf(origin, text, '/boats/Sea')
    await eventually(async () => (await findWith(second)) === 401)
    t.equal(await findWith(token), 404)

    const acknowledged: string[] = []
    const write = async (name: string) => {
      const status = await put(origin, token, `/boats/${name}`).catch(() => 0)
      if (status === 200) acknowledged.push(name)
      return status === 200
    }
    const writer = async (letter: string) => {
      for (let count = 0; await write(`${letter}${count}`); count++)
        if (acknowledged.length >= 50) child.kill('SIGKILL')
    }
    await Promise.all(['A', 'B', 'C', 'D'].map(writer))
    t.match(await ended, { signal: 'SIGKILL' })
    const again = await serve(t, place, database)
    for (const boat of acknowledged)
      t.equal(await statusOf(again.origin, token, `/boats/${boat}`), 200, boat)
  })
}

t.test('a backup is saved, checked and restored, and all is copied to PostgreSQL', async (t) => {
  const place = copyService(t, installed)
  const { origin, token, environment, child, ended } = await serve(t, place)
  const here = { ...place, environment }
  t.equal(await put(origin, token, '/boats/Sea'), 200)
  t.match(await runNode(here, 'service/backup.ts', 'save', 'saved.db'), { code: 0 })
  t.equal(await put(origin, token, '/boats/Later'), 200)
  child.kill('SIGINT')
  t.match(await ended, { code: 0 })
  t.match(await runNode(here, 'service/backup.ts', 'check'), { code: 0 })
  t.match(await runNode(here, 'service/backup.ts', 'restore', 'saved.db', '--replace'), { code: 0 })
  const database = await server.createDatabase()
  const target = { ...place, environment: { ...environment, DATABASE_URL: database } }
  const copied = await runNode(target, 'service/copy.ts', environment.DATABASE_URL)
  t.match(copied, { code: 0 })
  const after = await serve(t, place, database)
  t.equal(await statusOf(after.origin, token, '/boats/Sea'), 200)
  t.equal(await statusOf(after.origin, token, '/boats/Later'), 404)
})

t.test('a stack trace shows lines of TypeScript', async (t) => {
  const { origin, token, printed } = await serve(t, copyService(t, installed))
  t.equal(await statusOf(origin, token, '/boats/Flying Dutchman'), 500)
  await eventually(() => printed.stdout.includes('nobody finds it'))
  const line = linesOf(printed.stdout).find((entry) =>
    JSON.stringify(entry).includes('nobody finds it'),
  )
  const stack = JSON.stringify(line)
  t.match(stack, /service\/harbour\.ts:\d+/)
  const frames = [...stack.matchAll(/@plant-store\/(\w+)\/(src\/[\w/-]+\.ts):(\d+):(\d+)/g)]
  t.ok(frames.length > 0, stack)
  t.notMatch(stack, /@plant-store\/\w+\/dist/)
  for (const [frame, name = '', file = '', row = '', column = ''] of frames) {
    const source = readFileSync(`packages/${name}/${file}`, 'utf8').split('\n')[Number(row) - 1]
    t.match(source?.slice(Number(column) - 1), /^[\w(]/, frame)
  }
})

t.test('dev follows the contract and the code, and answers with examples', async (t) => {
  for (const words of [[], ['--examples']]) {
    const place = copyService(t, installed)
    const { folder } = place
    const port = await freePort()
    const origin = `http://127.0.0.1:${port}`
    const environment = {
      ...place.environment,
      PORT: String(port),
      DATABASE_URL: 'sqlite:data/dev.db',
    }
    const here = { ...place, environment }
    const { printed } = await startNode(t, here, 'service/dev.ts', ...words)
    const report = () => printed.stdout + printed.stderr
    const get = (path: string, token = '') => statusOf(origin, token, path).catch(() => 0)
    const isAnswered = (path: string, status: number, token = '') =>
      eventually(async () => (await get(path, token)) === status, report)
    await isAnswered('/boats/Sea', 401)
    const token = await issue(here)
    await isAnswered('/boats/Sea', 404, token)
    change(folder, 'service/harbour.ts', "'There is no such boat'", "'It sank'")
    await eventually(
      async () => (await textOf(origin, token, '/boats/Sea')).includes('It sank'),
      report,
    )
    change(folder, 'openapi.yaml', 'components:\n', OPERATION)
    await isAnswered('/boats/Sea/flag', words.length === 0 ? 501 : 200, token)
    const text = await textOf(origin, token, '/boats/Sea/flag')
    t.match(text, words.length === 0 ? /findFlag in the class Harbour/ : /^blue$/)
    const isWritten = () =>
      readFileSync(`${folder}/service/contract.gen.ts`, 'utf8').includes('findFlag')
    await eventually(isWritten, report)
    await eventually(() => /product\.ts\(.*error TS[^]*findFlag/.test(printed.stderr), report)
  }
})

t.test('a missing method is named, and --stubs writes it', async (t) => {
  const place = copyService(t, installed)
  const { folder } = place
  change(folder, 'openapi.yaml', 'components:\n', OPERATION)
  t.match(await runNode(place, 'service/generate.ts'), { code: 0 })
  t.match(await runTsc(place), { code: 2, stdout: /service\/product\.ts\([^]*findFlag/ })
  const lacking = await runNode(place, 'service/main.ts')
  t.match(lacking, { code: 1, stdout: /the operation findFlag has no method in the service/ })
  const words = ['--stubs', 'service/flags.ts']
  t.match(await runNode(place, 'service/generate.ts', ...words), { code: 0 })
  change(
    folder,
    'service/product.ts',
    '[new Harbour(boats, berths)]',
    '[new Harbour(boats, berths), new Flags()]',
  )
  change(folder, 'service/product.ts', /^/, "import { Flags } from './flags.ts'\n")
  t.match(await runTsc(place), { code: 0, stdout: '' })
  const { origin, token } = await serve(t, place)
  t.equal(await statusOf(origin, token, '/boats/Sea/flag'), 501)
})

t.test(
  'a start compiles a contract that has changed, or refuses it without the compiler',
  async (t) => {
    const changed = (packages?: RegExp) => {
      const place = copyService(t, installed, packages)
      change(
        place.folder,
        'openapi.yaml',
        PROPERTY,
        `properties: { flag: { type: string }, length: { type: integer`,
      )
      return place
    }
    const bare = /^(?!@plant-store\/(compiler|testing)$|\.bin$)/
    const production = copyService(t, installed, bare)
    await session(
      t,
      (await serve(t, production)).origin,
      await issue({
        ...production,
        environment: { DATABASE_URL: `sqlite:${production.folder}/data/harbour.db` },
      }),
    )
    const refused = await runNode(changed(bare), 'service/main.ts')
    t.match(refused, {
      code: 1,
      stdout: /openapi\.yaml: it has changed since the last `npm run generate`/,
    })
    const [, ...others] = linesOf(refused.stdout).filter(({ level }) => Number(level) >= 50)
    t.strictSame(others, [], 'by one line')
    const place = changed()
    await session(
      t,
      (await serve(t, place)).origin,
      await issue({
        ...place,
        environment: { DATABASE_URL: `sqlite:${place.folder}/data/harbour.db` },
      }),
    )
    const isStatic = changed()
    writeFileSync(
      `${isStatic.folder}/service/main.ts`,
      `import { loadCompiler } from '@plant-store/compiler'
import { start } from '@plant-store/engine'
import { product } from './product.ts'

await start(product, loadCompiler)
`,
    )
    t.match(await serve(t, isStatic), { origin: /^http/ })
  },
)

t.test('the tests that come from the contract pass', async (t) => {
  const { stdout, code } = await runNode(
    copyService(t, installed),
    'node_modules/.bin/test-service',
  )
  t.match([code, stdout], [0, /\d+ checks in 1 files/])
})

/** The strict checks of this repository, with the declarations of all packages. */
function runTsc(place: Place) {
  return runNode(place, 'node_modules/typescript/bin/tsc')
}
