// A product without a store, in its own process: its callers come from its guards or from JWTs.
import { readdirSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { generateTypes } from '../../../test/support/inner/compiler.ts'
import { request, statusesOf } from '../../../test/support/servers/start-product.ts'
import { claimsOf, makeKey, sign, startIssuer } from '../../../test/support/identity/issuer.ts'
import { linesOf, run, start, startService } from '../../../test/support/processes/programs.ts'

const BASIC = `Basic ${Buffer.from('ann:secret').toString('base64')}`

/** A contract with one operation. @param scheme its security scheme, named `login` */
const contractOf = (scheme: string) => `openapi: 3.1.0
info: { title: Greetings, version: 1.0.0 }
security: [{ login: [] }]
components:
  securitySchemes:
    login: ${scheme}
  schemas:
    Error:
      type: object
      required: [error, message]
      properties: { error: { type: integer }, message: { type: string } }
paths:
  /hello:
    get:
      operationId: greet
      responses:
        '200': { description: A greeting, content: { application/json: { schema: { type: string } } } }
        default:
          description: An error
          content: { application/json: { schema: { $ref: '#/components/schemas/Error' } } }
`

const GUARD = `guards: {
    login: (_request, credentials) =>
      atob(credentials) === 'ann:secret' ? { caller: 'ann', scopes: [] } : undefined,
  },`
const SCHEMES = {
  basic: '{ type: http, scheme: basic }',
  bearer: '{ type: http, scheme: bearer }',
  apiKey: '{ type: apiKey, in: header, name: X-Key }',
}

/** Writes a product. @param guards in product.ts @returns the command for one of its programs */
async function prepare(t: Test, scheme: keyof typeof SCHEMES, guards = '') {
  const program = (name: string, door: string) =>
    `import { ${name} } from '@plant-store/${door}'
import { product } from './product.ts'
await ${name}(product)`
  const folder = t.testdir({
    'openapi.yaml': contractOf(SCHEMES[scheme]),
    'product.ts': `import { defineProduct } from '@plant-store/engine'
import { contract } from './contract.gen.ts'
export const product = defineProduct({
  name: 'greetings',
  contract,
  ${guards}
  services: () => [{ greet: async ({ caller }) => ({ status: 200, body: 'Hello ' + caller }) }],
})`,
    'main.ts': program('start', 'engine'),
    'token.ts': program('token', 'engine'),
    'generate.ts': program('generate', 'compiler'),
    'backup.ts': program('backup', 'store'),
    'copy.ts': program('copy', 'store'),
  })
  const generated = `${folder}/contract.gen.ts`
  // A guard, so that only the programs below can fail: `generate`, and the start.
  const anything = { guards: { login: () => undefined } }
  writeFileSync(generated, await generateTypes(`${folder}/openapi.yaml`, generated, anything))
  return (name: string, ...words: string[]) => [process.execPath, `${folder}/${name}.ts`, ...words]
}

/** Milliseconds after which a start that should have failed is killed. */
const START_TIMEOUT = 20_000

/**
 * Starts a service that must refuse to start. If it serves, it is killed: then its code is null.
 */
async function startRefused(t: Test, command: string[], environment: Record<string, string> = {}) {
  const settings = { PORT: '0', ADMIN_PORT: '0', LOG_LEVEL: 'error', ...environment }
  const { child, ended } = await start(t, command, settings)
  const timer = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT)
  const { code, stdout, stderr } = await ended
  clearTimeout(timer)
  const lines = linesOf(stdout)
  return { code, stderr, messages: lines.map(({ msg }) => msg) }
}

t.test(
  'it serves with a guard, and has no store in probes, metrics, banner and files',
  async (t) => {
    const program = await prepare(t, 'basic', GUARD)
    t.match(await run(program('generate', '--check'), {}), { code: 0, stderr: '' })
    const environment = { NODE_ENV: 'development' }
    const { port, adminPort, child, ended } = await startService(t, environment, program('main'))
    const ask = (headers: Record<string, string>) => request(port, { path: '/hello', headers })
    const hello = await ask({ Authorization: BASIC })
    t.strictSame([hello.status, hello.json], [200, 'Hello #login#ann'])
    const refused = await Promise.all([ask({}), ask({ Authorization: 'Basic YTpi' })])
    t.strictSame(statusesOf(refused), [401, 401])
    t.match(refused[0], { headers: { 'www-authenticate': 'Basic realm="greetings"' } })
    t.equal((await request(port, { path: '/docs/' })).status, 200)
    const probes = ['/livez', '/readyz', '/metrics'].map((path) => request(adminPort, { path }))
    const [live, ready, metrics] = await Promise.all(probes)
    t.strictSame([live?.text, ready?.text, metrics?.status], ['ok\n', 'ok\n', 200])
    t.match(metrics?.text, /^greetings_refused_authentications_total/m)
    t.notMatch(metrics?.text, /_store_/)
    child.kill('SIGTERM')
    const { code, stderr, stdout } = await ended
    t.equal(code, 0, stdout)
    t.equal(stderr, `\n  Docs    http://127.0.0.1:${port}/docs/\n`)
    t.notOk(readdirSync(t.testdirName).some((name) => /data|\.db/.test(name)))
  },
)

t.test('the commands for what a store has end with one line that says why', async (t) => {
  const program = await prepare(t, 'basic', GUARD)
  for (const [words, stderr] of [
    [['token', 'list'], 'the product has no store for access tokens\n'],
    [['token', 'issue', 'joe'], 'the product has no store for access tokens\n'],
    [['backup', 'check'], 'the product has no store to back up\n'],
    [['copy', 'sqlite:a.db'], 'the product has no store to copy to\n'],
  ] as const) {
    const [name, ...others] = words
    const ended = await run(program(name, ...others), {})
    t.strictSame(ended, { code: 1, signal: null, stdout: '', stderr })
    t.match(await run(program(name, '--help'), {}), { code: 0, stdout: /^usage: / })
  }
})

t.test('bearer tokens are JWTs: a start without JWT_ISSUER is refused', async (t) => {
  const program = await prepare(t, 'bearer')
  t.match(await run(program('generate', '--check'), {}), { code: 0, stderr: '' })
  const message = /the security scheme login needs a guard in product.ts, or a store or JWT_ISSUER/
  t.match(await startRefused(t, program('main')), { code: 1, stderr: '', messages: [message] })

  const issuer = await startIssuer(t)
  const key = await makeKey('RS256', 'a')
  issuer.publish([key])
  const { port } = await startService(t, issuer.environment, program('main'))
  const ask = async (token: string) => request(port, { path: '/hello', token })
  const hello = await ask(await sign(key, claimsOf(issuer.name, 'ann')))
  t.strictSame([hello.status, hello.json], [200, `Hello ${issuer.name}#ann`])
  const ownToken = `greetings_${'0'.repeat(40)}1d0bfd5b`
  t.strictSame(
    statusesOf([await ask(ownToken), await ask('x'), await ask('a.b.c')]),
    [401, 401, 401],
  )
})

t.test('a scheme that only access tokens of a store satisfy is refused', async (t) => {
  const program = await prepare(t, 'apiKey')
  const message = /the security scheme login needs a guard in product.ts, or a store/
  const environment = {
    JWT_ISSUER: 'https://id.example',
    JWT_AUDIENCE: 'a',
    JWKS_URL: 'https://id.example/keys',
  }
  t.match(await run(program('generate'), environment), { code: 1, stdout: '', stderr: message })
  t.match(await startRefused(t, program('main'), environment), {
    code: 1,
    stderr: '',
    messages: [message],
  })
})

t.test('collections without a store do not start', async (t) => {
  const collections = `collections: { greetings: { schema: 'Error', key: 'text' } },`
  const program = await prepare(t, 'basic', GUARD + collections)
  const { code, stderr } = await startRefused(t, program('main'))
  t.equal(code, 1)
  t.match(stderr, 'the product has collections: it needs a store (store: openStore)')
})
