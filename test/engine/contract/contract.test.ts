import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { compile, inspect } from '../../../service/engine/contract/compile/compile.ts'
import { readContract } from '../../../service/engine/contract/contract.ts'
import { OPENAPI } from '../../support/own.ts'
import { build } from '../../support/helper.ts'
import { run } from '../../support/process.ts'
import { contract } from '../../support/small.ts'

const yaml = readFileSync(OPENAPI, 'utf8')

/** The contract with some texts replaced by others. */
function written(t: Test, ...changes: (readonly [from: string, to: string])[]): string {
  let text = yaml
  for (const [from, to] of changes) {
    t.match(text, from)
    text = text.replaceAll(from, () => to)
  }
  return `${t.testdir({ 'openapi.yaml': text })}/openapi.yaml`
}

/** What is served of a contract. */
const bytesOf = async (file: string, baseUrl?: string) => (await readContract(file, baseUrl)).bytes.toString()

/** The line, from 1, where a text first stands in the contract. */
const lineOf = (text: string) => yaml.slice(0, yaml.indexOf(text)).split('\n').length

t.test('the served bytes are those of the file', async (t) => {
  const { port } = await build(t)
  const response = await fetch(`http://127.0.0.1:${port}/openapi.yaml`)
  t.strictSame(Buffer.from(await response.arrayBuffer()), readFileSync(OPENAPI))
  for (const baseUrl of [undefined, '.']) t.equal(await bytesOf(OPENAPI, baseUrl), yaml)
})

t.test('BASE_URL changes only the default of base_url', async (t) => {
  for (const baseUrl of ['https://example.com/shop', '/a/b', '..', "it's: #1"]) {
    const expected = yaml.replace('default: .\n', () => `default: "${baseUrl}"\n`)
    t.equal(await bytesOf(OPENAPI, baseUrl), expected)
    const next = written(t, ['version: 1', 'version: 2'])
    t.equal(await bytesOf(next, baseUrl), expected.replace('version: 1', 'version: 2'))
  }
  const { port } = await build(t, { BASE_URL: 'https://example.com/shop' })
  const response = await fetch(`http://127.0.0.1:${port}/openapi.yaml`)
  t.match(await response.text(), 'default: "https://example.com/shop"\n')
  const other = written(t, ['{base_url}', '{other}'], ['      base_url:', '      other:'])
  await t.rejects(readContract(other, '/a'), { message: /base_url/ })
})

t.test('several files are served as one document, with the keywords beside each reference', async (t) => {
  const folder = t.testdir({
    'openapi.yaml': contract("      parameters: [{ $ref: 'other.yaml#/limit' }]"),
    'other.yaml': `limit: { name: limit, in: query, schema: { $ref: '#/Page' } }
Page: { $ref: '#/Limit', default: 20 }
Limit: { type: integer }\n`,
  })
  t.match(await bytesOf(`${folder}/openapi.yaml`), /Page:\n +default: 20\n +allOf:\n +- \$ref: "#.*\/Limit"/)
})

t.test('a contract that cannot be read is refused with file, line and reason', async (t) => {
  const loop = `paths:\n  /loop: { $ref: '#/paths/~1loop' }\n`
  const table: [line: number, reason: string, from: string, to: string][] = [
    [lineOf('paths:\n') + 1, 'the reference leads back to itself', 'paths:\n', loop],
    [lineOf('info:'), 'Unexpected flow-map-end', 'info:', 'info: }'],
    [lineOf('{ value: 20 }'), 'unidentified alias "twenty"', '{ value: 20 }', '{ value: *twenty }'],
    [lineOf('{ value: 20 }'), 'endless alias "a"', '{ value: 20 }', '&a { value: [*a] }'],
    [lineOf('maximum: 92'), 'maximum must be number', 'maximum: 92', 'maximum: .inf # '],
  ]
  for (const [line, reason, ...change] of table) {
    const message = new RegExp(`openapi\\.yaml:${line}: .*${reason}`)
    await t.rejects(readContract(written(t, change)), { name: 'StartupError', message })
  }
  await t.rejects(readContract('absent.yaml'), { message: /^absent\.yaml: ENOENT/ })
  for (const text of ['', '7', '- a', 'null']) {
    const file = t.testdir({ 'openapi.yaml': text }) + '/openapi.yaml'
    await t.rejects(readContract(file), { message: /openapi\.yaml: not an OpenAPI document$/ }, JSON.stringify(text))
  }
})

t.test('all faults are told at once, each with its line', async (t) => {
  const cookie = ['in: query\n      description: Where', 'in: cookie\n      description: Where'] as const
  const message = /^.*:\d+: \$anchor [^]*\n.*:\d+: a parameter in a cookie [^\n]*$/
  await t.rejects(readContract(written(t, cookie, ['format: int32, minimum', '$anchor: a, minimum'])), { message })
})

t.test('the linter of the project, and of an editor, tells what is refused', async (t) => {
  const head = '    head: { responses: { default: { description: None } } }\n'
  const file = written(t, ['  /plants/{id}:\n', `  /plants/{id}:\n${head}`])
  const linter = ['node_modules/.bin/redocly', 'lint', '--config=redocly.yaml', '--format=stylish']
  t.match(await run([...linter, file], {}), { code: 1, stdout: /rule\/head +"head" is not served/ })
})

t.test('a fault behind an alias concerns its operation, and an unknown scheme opens no operation', async (t) => {
  const path = (security: string) =>
    `  get: { operationId: run, responses: { '204': { description: Done } }, security: ${security} }`
  const text = `x-common: &sec [{ typo: [] }]\npaths:\n /x:\n${path('*sec')}\n /y:\n${path('[{ typo: [] }]').replace('run', 'y')}`
  const { faults, operations } = await inspect(`${t.testdir({ 'openapi.yaml': contract(text) })}/openapi.yaml`)
  t.match(faults, [{ operations: ['GET /x'] }, { operations: ['GET /y'] }])
  for (const { security } of operations.values()) t.match(security, [[{ scheme: { name: 'typo', type: 'other' } }]])
  t.equal(operations.size, 2)
})

t.test(
  'a guard that the product gets after `npm run generate` counts at the next start, and one that it loses',
  async (t) => {
    const schemes =
      'components: { securitySchemes: { login: { type: http, scheme: basic }, b: { type: http, scheme: bearer } } }'
    const paths = "  get: { operationId: run, responses: { '204': { description: Done } } }"
    const generate = async (security: string, product = {}) => {
      const text = contract(`security: ${security}\n${schemes}\npaths:\n /x:\n${paths}`)
      const file = `${t.testdir({ 'openapi.yaml': text })}/openapi.yaml`
      return { ...(await compile(file, product)), file, generated: '' }
    }
    const guards = { login: () => undefined }
    const either = await generate('[{ login: [] }, { b: [] }]')
    for (const [added, names] of [
      [{}, ['b']],
      [{ guards }, ['login', 'b']],
    ] as const) {
      const { operations } = await readContract(either.file, undefined, either, added)
      const schemes = operations[0]?.security.flat().map(({ scheme }) => scheme.name)
      t.strictSame(schemes, names)
    }
    const only = await generate('[{ login: [] }]', { guards })
    await t.rejects(readContract(only.file, undefined, only), /login needs a guard/)
  },
)
