// `npm run new` makes a service of a contract. test/system/walkthrough.test.ts runs the checks and tests of such services.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import t from 'tap'
import { namesFrom } from '../src/commands/new-names.ts'
import { request } from '../../../test/support/servers/start-product.ts'
import { fields } from '../../../test/support/inner/json.ts'
import { run, startService } from '../../../test/support/processes/programs.ts'
import { FOR_REGISTRY } from '../../../test/support/project/copy.ts'
import { documentWith, GRAMMAR } from '../../../test/support/contracts/hostile-documents.ts'
import { contract } from '../../../test/support/contracts/serve-contract.ts'

t.test('the names come from the title', async (t) => {
  for (const [title, name, slug] of [
    ['Book Shop', 'bookshop', 'book-shop'],
    ['Äpfel & Birnen: API v2!', 'apfelbirnen', 'apfel-birnen'],
    ['3D Printers', 'api3dprinters', 'api-3d-printers'],
    ['Swagger Petstore - OpenAPI 3.0', 'swaggerpetstore', 'swagger-petstore'],
    ["The Reader's API", 'readers', 'readers'],
    ['API', 'api', 'api'],
    ['植物', 'folder', 'folder'],
    ['', 'folder', 'folder'],
    [`A ${'long '.repeat(20)}title`, `a${'long'.repeat(7)}`, `a${'-long'.repeat(7)}`],
    ['x'.repeat(40), 'x'.repeat(32), 'x'.repeat(32)],
  ] as const) {
    const { name: ownName, slug: ownSlug } = namesFrom(title, 'folder')
    t.strictSame([ownName, ownSlug], [name, slug], title)
    t.match(ownName, /^[a-z][a-z0-9_]{0,31}$/)
  }
  t.equal(namesFrom('a "b" $c\n<d>', 'folder').title, 'a b c d')
  t.equal(namesFrom('"', 'folder').title, 'folder', 'a title is never empty')
})

const newService = (
  folder: string,
  document: string,
  environment: Record<string, string> = {},
  words: readonly string[] = [],
) =>
  run([process.execPath, 'service/new.ts', folder, document, ...words], {
    ...FOR_REGISTRY,
    ...environment,
  })

const OPERATION = `get:
      operationId: run
      summary: Run
      responses: { '204': { description: Done } }`

t.test('what can not become a service is refused, and nothing is written', async (t) => {
  const folder = t.testdir({
    full: { 'a.txt': '' },
    'good.yaml': contract(`paths:\n  /x:\n    ${OPERATION}\n`),
    'refused.yaml': contract(`paths:\n  /y:\n    ${OPERATION.replace('get', 'trace')}\n`),
    'form.yaml': contract(`paths:
  /x:
    get:
      operationId: run
      parameters: [{ name: a, in: query, schema: { type: integer } }]
      responses:
        default:
          description: Failed
          content: { application/json: { schema: { type: string, maxLength: 1, minLength: 2 } } }
`),
    'none.yaml': contract('paths: {}'),
    'broken.yaml': 'openapi: 3.1.0\n: [',
  })
  const before = readdirSync(folder)
  for (const [target, document, message] of [
    ['full', 'good.yaml', /full is not empty: name a new folder/],
    ['new', 'refused.yaml', /refused\.yaml:\d+: .*\nrefused: TRACE \/y\. Nothing is written/],
    ['new', 'form.yaml', /form\.yaml:\d+: .*errorBody.*\nrefused: GET \/x\. Nothing is written/],
    ['new', 'none.yaml', /the document has no operation: nothing is written/],
    ['new', 'broken.yaml', /broken\.yaml/],
    ['new', 'absent.yaml', /absent\.yaml/],
    ['new', 'https://example.com/a.yaml', /only files are read: copy it beside the contract/],
  ] as const) {
    const path = document.startsWith('https:') ? document : `${folder}/${document}`
    const { code, stdout, stderr } = await newService(`${folder}/${target}`, path)
    t.strictSame([code, stdout], [1, ''], document)
    t.match(stderr, message)
    t.strictSame(readdirSync(folder), before, 'nothing is written')
  }
  t.strictSame(readdirSync(`${folder}/full`), ['a.txt'])
  t.match(await run([process.execPath, 'service/new.ts', folder], {}), {
    code: 1,
    stderr: /<document> is missing/,
  })
})

/** A contract of two JSON files, with a guard, an unknown form of errors, and problems for the linter. */
const FILES = {
  'shop.json': JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Äpfel & "Birnen": API v2!', version: '2.0.0' },
    paths: {
      '/apples/{id}': {
        get: {
          operationId: 'find-apple',
          security: [{ login: [] }],
          parameters: [{ $ref: 'parts/id.json' }],
          responses: { 200: { description: 'It' }, default: { $ref: 'parts/error.json' } },
        },
      },
      '/pears': { get: { security: [{ token: [] }], responses: { 204: { description: 'Done' } } } },
    },
    components: {
      securitySchemes: {
        login: { type: 'http', scheme: 'basic' },
        token: { type: 'http', scheme: 'bearer' },
      },
    },
  }),
  parts: {
    'id.json': JSON.stringify({
      name: 'id',
      in: 'path',
      required: true,
      schema: { type: 'integer', maximum: 5 },
    }),
    'error.json': JSON.stringify({
      description: 'Failed',
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['code', 'errors'],
            properties: {
              code: { type: 'string' },
              errors: { type: 'array', items: { type: 'string' } },
            },
          },
        },
      },
    }),
  },
}

/** The code of the service made from this contract. */
const CODE = [
  'service/apfel-birnen-service.ts',
  'service/backup.ts',
  'service/contract.gen.ts',
  'service/copy.ts',
  'service/dev.ts',
  'service/generate.ts',
  'service/lint.ts',
  'service/main.ts',
  'service/product.ts',
  'service/token.ts',
  'test/apfel-birnen-service.test.ts',
  'test/contract.test.ts',
]
/** Matches names of our packages, and of their repository. */
const OURS =
  /@plant-store\/|plant-store-(?=[\w-]+-\d)|plant-store\/plant-store|\.\.\/plant-store\//g
const readJson = (file: string) => fields(JSON.parse(readFileSync(file, 'utf8')))

t.test('a service is made', async (t) => {
  const parent = t.testdir(FILES)
  const environment = { npm_lifecycle_event: 'new', INIT_CWD: parent }
  const { code, stdout, stderr } = await newService('shop', 'shop.json', environment)
  t.strictSame([code, stderr], [0, ''], 'a folder is relative to where npm was called')
  t.match(stdout, /^shop has the service Äpfel & Birnen : API v2!, with 2 operations: cd shop/)
  t.match(stdout, /^write the methods in service\/apfel-birnen-service\.ts/m)
  t.match(stdout, /^write the guard login in service\/product\.ts/m)
  const folder = `${parent}/shop`
  const git = (...words: string[]) =>
    execFileSync('git', words, { cwd: folder, encoding: 'utf8' }).trim()
  const files = git('ls-files').split('\n')

  t.test(
    'it has a commit with at most 40 files, none of the packages, and no plants',
    async (t) => {
      t.strictSame([git('status', '--short'), git('rev-list', '--count', 'HEAD')], ['', '1'])
      t.ok(files.length <= 40, files.join(' '))
      const code = files.filter((file) => file.endsWith('.ts'))
      t.strictSame(code.sort(), CODE)
      t.notOk(existsSync(`${folder}/node_modules`))
      const naming = files.filter((file) => {
        const text = readFileSync(`${folder}/${file}`, 'utf8')
        return !file.endsWith('.tgz') && /plant/i.test(text.replaceAll(OURS, ''))
      })
      t.strictSame(naming, [])
    },
  )

  t.test('its links lead to its files, or to the repository', async (t) => {
    for (const file of files.filter((name) => name.endsWith('.md'))) {
      const text = readFileSync(`${folder}/${file}`, 'utf8')
      for (const [, link = ''] of text.matchAll(/\]\(([^)#]+)/g)) {
        const [, path] = /^https:.*\/blob\/v[\d.]+\/(.*)$/.exec(link) ?? []
        const isWeb = path === undefined && link.startsWith('https:')
        if (isWeb) continue
        const target = path ?? `${folder}/${dirname(file)}/${link}`
        t.ok(existsSync(target), `${file}: ${link}`)
      }
    }
  })

  t.test('its packages are in vendor/, and the lock file has a checksum of each', async (t) => {
    const { dependencies, devDependencies, optionalDependencies } = readJson(
      `${folder}/package.json`,
    )
    const named = Object.entries({ ...fields(dependencies), ...fields(devDependencies) })
    const ours = named.filter(([name]) => name.startsWith('@plant-store/'))
    t.equal(ours.length, 5)
    for (const [name, range] of ours) {
      t.match(range, /^file:vendor\/.*\.tgz$/, name)
      t.ok(files.includes(String(range).slice('file:'.length)), name)
    }
    const { packages } = readJson(`${folder}/package-lock.json`)
    const { '': root, ...others } = fields(packages)
    t.ok(Object.keys(others).length > 100)
    for (const [path, entry] of Object.entries(others)) {
      const { integrity, resolved = 'file:vendor/' } = fields(entry)
      t.match(integrity, /^sha512-/, path)
      t.match(resolved, /^file:vendor\//, path)
    }
    t.match(root, { optionalDependencies })
    for (const name of Object.keys(fields(optionalDependencies)))
      t.ok(`node_modules/${name}` in others, name)
  })

  t.test('its contract is one file of YAML', async (t) => {
    const yaml = readFileSync(`${folder}/openapi.yaml`, 'utf8')
    t.match(yaml, /^openapi: "3\.1\.0"\n/)
    t.match(yaml, /^ +- \$ref: "#\/components\/parameters\/id"$/m)
  })

  t.test('its product has the guard, and its compiled contract the form of errors', async (t) => {
    const product = readFileSync(`${folder}/service/product.ts`, 'utf8')
    t.match(product, /^ {2}name: 'apfelbirnen',$/m)
    t.match(product, /^ {4}login: \(\) => undefined,/m)
    t.notMatch(product, /errorBody/)
    const generated = readFileSync(`${folder}/service/contract.gen.ts`, 'utf8')
    t.match(generated, /template: { code: '\$code', errors: \['\$message'\] }/)
  })

  t.test('it serves: 501 to who has credentials', async (t) => {
    symlinkSync(resolve('node_modules'), `${folder}/node_modules`)
    const main = [process.execPath, `${folder}/service/main.ts`]
    const database = { DATABASE_URL: `sqlite:${parent}/a.db` }
    const issue = [process.execPath, `${folder}/service/token.ts`, 'issue', 'joe']
    const { stdout: token } = await run(issue, database, folder)
    const { port } = await startService(t, database, main)
    t.match(await request(port, { path: '/apples/3' }), { status: 401, json: { code: 'E401' } })
    t.match(await request(port, { path: '/pears', token: token.trim() }), { status: 501 })
    t.match(await request(port, { path: '/pears' }), { status: 401 })
  })

  t.test('its checks pass, and leave out what the linter says of the document', async (t) => {
    const ignored = readFileSync(`${folder}/.redocly.lint-ignore.yaml`, 'utf8')
    t.match(ignored, /operation-summary/)
    const check = [process.execPath, 'service/generate.ts', '--check']
    t.match(await run(check, {}, folder), { code: 0 })
  })
})

t.test('nginx repeats requests only where each method may be repeated', async (t) => {
  const repeats = /^ *proxy_next_upstream .* non_idempotent;/m
  for (const [method, isRepeated] of [
    ['put', true],
    ['patch', false],
  ] as const) {
    const yaml = contract(`paths:\n  /x:\n    ${OPERATION.replace('get', method)}\n`)
    const folder = t.testdir({ 'openapi.yaml': yaml })
    t.match(await newService(`${folder}/shop`, `${folder}/openapi.yaml`), { code: 0, stderr: '' })
    const text = readFileSync(`${folder}/shop/deploy/nginx.conf`, 'utf8')
    t.equal(repeats.test(text), isRepeated, method)
    t.equal(text.includes('every operation of the contract can be repeated'), isRepeated)
  }
})

t.test('a refused operation is left out, with its reason, and the others are served', async (t) => {
  // The parser of the linter wants the end of a list farther to the right than its key.
  const tags = 'tags: [ # of the shop\n        a\n      ]\n      '
  const refused = `  /y:\n    ${OPERATION.replace('get', 'trace').replace('run', 'bad')}\n`
  const served = OPERATION.replace('summary', `${tags}summary`)
  const parent = t.testdir({ 'a.yaml': contract(`paths:\n  /x:\n    ${served}\n${refused}`) })
  const words = ['--name', 'Corner Shop']
  const ended = await newService(`${parent}/shop`, `${parent}/a.yaml`, {}, words)
  t.match(ended, { code: 0, stderr: '' })
  t.match(ended.stdout, /has the service Small, with 1 operation:/)
  t.match(ended.stdout, /^refused, and left out .*: TRACE \/y$/m)
  const folder = `${parent}/shop`
  const product = readFileSync(`${folder}/service/product.ts`, 'utf8')
  const yaml = readFileSync(`${folder}/openapi.yaml`, 'utf8')
  const line = yaml.split('\n').findIndex((text) => text.includes('trace:')) + 1
  t.match(product, `    // openapi.yaml:${line}: "trace" is not served`)
  t.match(product, /^ {4}'bad',\n {2}\],$/m)
  t.match(product, /name: 'cornershop',[^]*new CornerShopService\(\)/)
  t.match(yaml, '# of the shop', 'the layout is another one, with the comments')
  symlinkSync(resolve('node_modules'), `${folder}/node_modules`)
  const check = [process.execPath, 'service/generate.ts', '--check']
  t.match(await run(check, {}, folder), { code: 0 })
})

t.test('a document of a stranger becomes a service, and none of it runs', async (t) => {
  const text = `a'"\`); \${owned()} */ owned()\r\nowned()\u2028owned()\u2029owned() //`
  const isPut = (place: string) => !GRAMMAR.test(place) && place !== 'a server'
  const parent = t.testdir({ 'a.json': documentWith(text, isPut) })
  const ended = await newService(`${parent}/it's new`, `${parent}/a.json`)
  t.match(ended, { code: 0, stderr: '' })
  t.match(ended.stdout, /^write the guard a'"/m)
  t.match(ended.stdout, `: cd '${parent}/it'\\''s new' && npm ci && npm start\n`)
  const folder = `${parent}/it's new`
  symlinkSync(resolve('node_modules'), `${folder}/node_modules`)
  const check = [process.execPath, 'service/generate.ts', '--check']
  t.match(await run(check, {}, folder), { code: 0 })
  const database = { DATABASE_URL: `sqlite:${parent}/a.db` }
  const main = [process.execPath, `${folder}/service/main.ts`]
  const { port } = await startService(t, database, main)
  t.equal((await request(port, { path: '/events' })).status, 401)
})

t.test('without git, in a folder of git, and from a registry', async (t) => {
  const parent = t.testdir({
    'a.yaml': contract(`paths:\n  /x:\n    ${OPERATION}\n`),
    bin: {},
    another: {},
  })
  const document = `${parent}/a.yaml`

  t.test('without git there is no commit, which a line says', async (t) => {
    // PATH holds only these commands.
    const [npm] = (await run(['sh', '-c', 'command -v npm'], {})).stdout.split('\n')
    symlinkSync(String(npm), `${parent}/bin/npm`)
    symlinkSync(process.execPath, `${parent}/bin/node`)
    const ended = await newService(`${parent}/ungit`, document, { PATH: `${parent}/bin` })
    t.match(ended, { code: 0, stderr: '', stdout: /^no commit is made: git is not installed$/m })
    t.ok(existsSync(`${parent}/ungit/package-lock.json`))
    t.notOk(existsSync(`${parent}/ungit/.git`))
  })

  t.test('the variables of another repository do not matter', async (t) => {
    execFileSync('git', ['init', '--quiet', `${parent}/another`])
    const before = readdirSync(`${parent}/another/.git`)
    const environment = {
      GIT_DIR: `${parent}/another/.git`,
      GIT_WORK_TREE: `${parent}/another`,
      GIT_INDEX_FILE: `${parent}/another/.git/index`,
    }
    t.match(await newService(`${parent}/inner`, document, environment), { code: 0, stderr: '' })
    t.strictSame(readdirSync(`${parent}/another/.git`), before)
    const log = execFileSync('git', ['log', '--format=%s'], { cwd: `${parent}/inner` })
    t.equal(String(log), 'Make Small\n')
  })

  t.test(
    '--registry names versions, and where npm finds none, a line says what to do',
    async (t) => {
      const command = [
        process.execPath,
        'service/new.ts',
        `${parent}/named`,
        document,
        '--registry',
      ]
      const offline = { npm_config_offline: 'true', npm_config_cache: `${parent}/empty` }
      const { code, stdout, stderr } = await run(command, offline)
      t.strictSame([code, stderr], [0, ''])
      t.match(
        stdout,
        /^npm has not found the packages: run `npm install` when they are in the registry/m,
      )
      const { dependencies } = readJson(`${parent}/named/package.json`)
      t.match(fields(dependencies)['@plant-store/engine'], /^\^\d+\.\d+\.\d+$/)
      t.notOk(existsSync(`${parent}/named/vendor`))
      t.notOk(existsSync(`${parent}/named/package-lock.json`))
      t.notMatch(readFileSync(`${parent}/named/Dockerfile`, 'utf8'), /vendor/)
    },
  )
})
