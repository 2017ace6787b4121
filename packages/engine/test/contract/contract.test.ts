// The contract at a start: when it is compiled anew, its faults, and the served document.
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { compile, inspect } from '../../../../test/support/inner/compiler.ts'
import { loadCompiler } from '@plant-store/compiler'
import type { ContractOptions } from '../../src/contract/contract.ts'
import { readContract as readCompiled } from '../../../../test/support/inner/contract.ts'
import { OPENAPI } from '../../../../test/support/contracts/product-contract.ts'
import { build } from '../../../../test/support/servers/start-product.ts'
import { run } from '../../../../test/support/processes/programs.ts'
import { contract } from '../../../../test/support/contracts/serve-contract.ts'

const yaml = readFileSync(OPENAPI, 'utf8')

const DONE = "responses: { '204': { description: Done } }"

/** Writes the contract with some replacements. */
function written(t: Test, ...changes: (readonly [from: string, to: string])[]): string {
  let text = yaml
  for (const [from, to] of changes) {
    t.match(text, from)
    text = text.replaceAll(from, () => to)
  }
  return `${t.testdir({ 'openapi.yaml': text })}/openapi.yaml`
}

/** Reads a contract, with the compiler. */
const readContract = (file: string, options: ContractOptions = {}) =>
  readCompiled(file, { loadCompiler, ...options })

/** The served bytes of a contract. */
const bytesOf = async (file: string, baseUrl?: string) =>
  (await readContract(file, baseUrl === undefined ? {} : { baseUrl })).bytes.toString()

/** The line of a string in the contract, from 1. */
const lineOf = (text: string) => yaml.slice(0, yaml.indexOf(text)).split('\n').length

t.test(
  'the served bytes are those of the file, and BASE_URL changes only the default of base_url',
  async (t) => {
    for (const baseUrl of [undefined, '.']) t.equal(await bytesOf(OPENAPI, baseUrl), yaml)
    for (const baseUrl of ['https://example.com/shop', '/a/b', '..', "it's: #1"]) {
      const expected = yaml.replace('default: .\n', () => `default: "${baseUrl}"\n`)
      t.equal(await bytesOf(OPENAPI, baseUrl), expected)
      const next = written(t, ['version: 1', 'version: 2'])
      t.equal(await bytesOf(next, baseUrl), expected.replace('version: 1', 'version: 2'))
      const { port } = await build(t, /^http/.test(baseUrl) ? { BASE_URL: baseUrl } : {})
      const response = await fetch(`http://127.0.0.1:${port}/openapi.yaml`)
      const served = Buffer.from(await response.arrayBuffer())
      t.strictSame(served, /^http/.test(baseUrl) ? Buffer.from(expected) : readFileSync(OPENAPI))
    }
    const renamed = written(t, ['{base_url}', '{other}'], ['      base_url:', '      other:'])
    await t.rejects(readContract(renamed, { baseUrl: '/a' }), { message: /base_url/ })
  },
)

t.test(
  'several files are served as one document, with the keywords beside each reference',
  async (t) => {
    const folder = t.testdir({
      'openapi.yaml': contract("      parameters: [{ $ref: 'other.yaml#/limit' }]"),
      'other.yaml': `limit: { name: limit, in: query, schema: { $ref: '#/Page' } }
Page: { $ref: '#/Limit', default: 20 }
Limit: { type: integer }\n`,
    })
    t.match(
      await bytesOf(`${folder}/openapi.yaml`),
      /Page:\n +default: 20\n +allOf:\n +- \$ref: "#.*\/Limit"/,
    )
  },
)

t.test(
  'a contract that cannot be read is refused with file, line and reason, all of them',
  async (t) => {
    const loop = `paths:\n  /loop: { $ref: '#/paths/~1loop' }\n`
    const table: [line: number, reason: string, from: string, to: string][] = [
      [lineOf('paths:\n') + 1, 'the reference leads back to itself', 'paths:\n', loop],
      [lineOf('info:'), 'Unexpected flow-map-end', 'info:', 'info: }'],
      [
        lineOf('{ value: 20 }'),
        'unidentified alias "twenty"',
        '{ value: 20 }',
        '{ value: *twenty }',
      ],
      [lineOf('{ value: 20 }'), 'endless alias "a"', '{ value: 20 }', '&a { value: [*a] }'],
      [lineOf('maximum: 92'), 'maximum must be number', 'maximum: 92', 'maximum: .inf # '],
    ]
    for (const [line, reason, ...change] of table) {
      const message = new RegExp(`openapi\\.yaml:${line}: .*${reason}`)
      await t.rejects(readContract(written(t, change)), { name: 'StartupError', message })
    }
    const style = [
      'in: query\n      description: Where',
      'in: query\n      style: pipeDelimited\n      description: Where',
    ] as const
    const two = written(t, style, ['format: int32, minimum', '$anchor: a, minimum'])
    await t.rejects(readContract(two), {
      message:
        /^.*:\d+: \$anchor [^]*\n.*:\d+: this style is not served[^\n]*\nto serve the other operations, [^\n]*$/,
    })
    await t.rejects(readContract('absent.yaml'), { message: /^absent\.yaml: ENOENT/ })
    for (const text of ['', '7', '- a', 'null']) {
      const file = t.testdir({ 'openapi.yaml': text }) + '/openapi.yaml'
      await t.rejects(
        readContract(file),
        { message: /openapi\.yaml: not an OpenAPI document$/ },
        JSON.stringify(text),
      )
    }
  },
)

t.test('the linter of the project, and of an editor, tells what is refused', async (t) => {
  const trace = '    trace: { responses: { default: { description: None } } }\n'
  const file = written(t, ['  /plants/{id}:\n', `  /plants/{id}:\n${trace}`])
  const linter = ['node_modules/.bin/redocly', 'lint', '--config=redocly.yaml', '--format=stylish']
  t.match(await run([...linter, file], {}), {
    code: 1,
    stdout: /rule\/trace +"trace" is not served/,
  })
})

t.test(
  'a fault behind an alias concerns its operation, and an unknown scheme opens no operation',
  async (t) => {
    const path = (id: string, security: string) =>
      `  /${id}: { get: { operationId: ${id}, ${DONE}, security: ${security} } }`
    const text = `x-common: &sec [{ typo: [] }]\npaths:\n${path('x', '*sec')}\n${path('y', '[{ typo: [] }]')}`
    const { errors, operations } = await inspect(
      `${t.testdir({ 'openapi.yaml': contract(text) })}/openapi.yaml`,
    )
    t.match(errors, [{ operations: ['GET /x'] }, { operations: ['GET /y'] }])
    for (const { operation } of operations.values())
      t.match(operation.security, [[{ scheme: { name: 'typo', type: 'other' } }]])
    t.equal(operations.size, 2)
  },
)

t.test(
  'a guard that the product gets after `npm run generate`, or loses, counts at the next start',
  async (t) => {
    const schemes =
      'components: { securitySchemes: { login: { type: http, scheme: basic }, b: { type: http, scheme: bearer } } }'
    const generate = async (security: string, product = {}) => {
      const text = contract(`      security: ${security}\n      ${DONE}\n${schemes}`)
      const file = `${t.testdir({ 'openapi.yaml': text })}/openapi.yaml`
      return { ...(await compile(file, product)), file, generated: '' }
    }
    const guards = { login: () => undefined }
    const either = await generate('[{ login: [] }, { b: [] }]')
    for (const [added, names] of [[{}, 'b'] as const, [{ guards }, 'login,b'] as const]) {
      const { operations } = await readContract(either.file, {
        generated: either,
        product: added,
      })
      t.equal(
        operations[0]?.security.flatMap(([requirement]) => requirement?.scheme.name).join(),
        names,
      )
    }
    const only = await generate('[{ login: [] }]', { guards })
    await t.rejects(readContract(only.file, { generated: only }), /login needs a guard/)
  },
)
