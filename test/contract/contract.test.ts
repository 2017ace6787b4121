import { readFileSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { readContract } from '../../service/contract/contract.ts'
import { operations } from '../support/contract.ts'
import { build } from '../support/helper.ts'
import { brief } from '../support/json.ts'
import { isValid } from '../support/schemas.ts'

const yaml = readFileSync('openapi.yaml', 'utf8')

/** The contract with some texts replaced by others. */
function written(t: Test, ...changes: [from: string, to: string][]): string {
  const file = `${t.testdir()}/openapi.yaml`
  writeFileSync(
    file,
    changes.reduce((text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`the contract has no ${from}`)
      return text.replaceAll(from, () => to)
    }, yaml),
  )
  return file
}

/** The line, from 1, where a text first stands in the contract. */
const lineOf = (text: string) => yaml.slice(0, yaml.indexOf(text)).split('\n').length

t.test('the served bytes are those of the file', async (t) => {
  const { port } = await build(t)
  const response = await fetch(`http://127.0.0.1:${port}/openapi.yaml`)
  t.strictSame(Buffer.from(await response.arrayBuffer()), readFileSync('openapi.yaml'))
  for (const baseUrl of [undefined, '.']) t.equal(readContract('openapi.yaml', baseUrl).bytes.toString(), yaml)
})

t.test('BASE_URL changes only the default of base_url', async (t) => {
  for (const baseUrl of ['https://example.com/shop', '/a/b', '..', "it's: #1"]) {
    const expected = yaml.replace('default: .\n', () => `default: "${baseUrl}"\n`)
    t.equal(readContract('openapi.yaml', baseUrl).bytes.toString(), expected)
  }
  const { port } = await build(t, { BASE_URL: 'https://example.com/shop' })
  const response = await fetch(`http://127.0.0.1:${port}/openapi.yaml`)
  t.match(await response.text(), 'default: "https://example.com/shop"\n')
  t.throws(() => readContract(written(t, ['      base_url:', '      other:']), '/a'), { message: /base_url/ })
})

t.test('a contract that cannot be read is refused with file, line and reason', async (t) => {
  const table: [reason: RegExp, ...change: [from: string, to: string]][] = [
    [/openapi\.yaml:2: [^\n]+$/, 'info:', 'info: }'],
    [/openapi\.yaml:4: .*unique[^\n]*$/, '  title: Plant Store', '  title: a\n  title: b'],
    [new RegExp(`openapi\\.yaml:${lineOf('/Unavailable')}: .*nowhere`), 's/Unavailable', 's/Unavailabel'],
    [/openapi\.yaml: .*alias.*: twenty$/, 'example: 20', 'example: *twenty'],
    [
      new RegExp(`openapi\\.yaml:${lineOf('\n    delete:') + 2}: .*two op`),
      'Id: deletePayout\n      s',
      'Id: getPayout\n      s',
    ],
  ]
  for (const [reason, ...change] of table) {
    const file = written(t, change)
    t.throws(() => readContract(file), { name: 'StartupError', message: reason }, String(reason))
  }
  t.throws(() => readContract('absent.yaml'), { message: /^absent\.yaml: ENOENT/ })
  for (const text of ['', '7', '- a', 'null']) {
    const file = t.testdir({ 'openapi.yaml': text }) + '/openapi.yaml'
    t.throws(() => readContract(file), { message: /openapi\.yaml: not an OpenAPI document$/ }, JSON.stringify(text))
  }
})

t.test('what would be served otherwise than the contract says is refused by name', async (t) => {
  const limit = '        - name: limit\n          in: query\n'
  const table: [reason: RegExp, ...change: [from: string, to: string]][] = [
    [/\/plants\/{id}: "trace"/, '\n    delete:\n', '\n    trace:\n'],
    [/\/plants\/{id}: "head"/, '\n    delete:\n', '\n    head:\n'],
    [/the path \/plants\/{plant-id}/, '/plants/{id}:', '/plants/{plant-id}:'],
    [/the path \/plants\/{id}:archive/, '/plants/{id}:', "'/plants/{id}:archive':"],
    [/delete \/plants\/{id} has no operationId/, '      operationId: deletePayout\n      summary', '      summary'],
    [
      /two operations have the operationId getPayout/,
      'operationId: deletePayout\n      sum',
      'operationId: getPayout\n      sum',
    ],
    [/getPayout: a parameter in cookie/, limit, limit.replace('query', 'cookie')],
    [/getPayout: the header accept/, limit, limit.replace('query', 'header').replace('limit', 'accept')],
    [/getPayout: the header Authorization/, limit, limit.replace('query', 'header').replace('limit', 'Authorization')],
    ...['style: form', 'explode: false', 'allowReserved: true', 'content: {}'].map((line): [RegExp, string, string] => [
      new RegExp(`getPayout: "${line.split(':')[0]}" of limit`),
      limit,
      `${limit}          ${line}\n`,
    ]),
    [/createPayout: alternatives in "security"/, '  - bearerAuth: []\ntags', '  - bearerAuth: []\n  - {}\ntags'],
    [/createPayout: scopes in "security"/, '  - bearerAuth: []\ntags', '  - bearerAuth: [admin]\ntags'],
    [/security scheme keyAuth is not described/, '  - bearerAuth: []\ntags', '  - keyAuth: []\ntags'],
    ...['type: http\n      scheme: basic', 'type: apiKey\n      in: query\n      name: key', 'type: mutualTLS'].map(
      (scheme): [RegExp, string, string] => [
        /:\d+: the security scheme bearerAuth is neither of the type http with the scheme bearer nor an apiKey in a header/,
        'type: http\n      scheme: bearer',
        scheme,
      ],
    ),
    [/createPayout: a request body/, '        required: true\n        content', '        content'],
    [
      /createPayout: a request body/,
      'content:\n          application/json:\n            schema: { $ref: "#/components/schemas/N',
      'content:\n          text/plain:\n            schema: { $ref: "#/components/schemas/N',
    ],
    [/leads back to itself/, "items: { $ref: '#/components/schemas/Plant' }", "items: { $ref: '#/paths/~1plants' }"],
  ]
  for (const [reason, from, to] of table) {
    const file = written(t, [from.replaceAll('"#', "'#"), to.replaceAll('"#', "'#")])
    t.throws(() => readContract(file), { message: reason }, String(reason))
  }
})

// By hand: the tests that come from the contract would follow whoever loosens it.
t.test('a request is as the design has it: a new plant, a limit, a cursor, an id', async (t) => {
  const ids = [-(2n ** 63n), 0, 9007199254740993n, 2n ** 63n - 1n]
  const noIds = [-(2n ** 63n) - 1n, 2n ** 63n, 1.5, '7', null]
  const texts = ['x', ' é\n', 'x'.repeat(255), '🌱'.repeat(255)]
  const noTexts = ['x'.repeat(256), 'x\0', null, 7]
  const members: [name: string, valid: unknown[], invalid: unknown[]][] = [
    ['id', ids, [...noIds, undefined]],
    ['name', texts, [...noTexts, undefined, '', ' \n']],
    ['tag', [...texts, undefined, ''], noTexts],
    ['other', [], [1]],
  ]
  const post = operations.find(({ id }) => id === 'createPayout')
  for (const [name, valid, invalid] of members) {
    for (const value of [...valid, ...invalid]) {
      const plant = { id: 7, name: 'Rose', [name]: value }
      t.equal(isValid(post?.body?.schema ?? {}, plant), valid.includes(value), `a plant with ${name} ${brief([value])}`)
    }
  }
  const parameters: [id: string, name: string, valid: unknown[], invalid: unknown[]][] = [
    ['getPayout', 'limit', [1, 2147483647], [0, 2147483648, 1.5, '1']],
    ['getPayout', 'cursor', ['AAAAAAAAAAc', 'f_________8'], ['', 'AAAAAAAAAA', 'AAAAAAAAAAB', 'AAAAAAAAAAcc']],
    ['deletePayout', 'id', ids, noIds],
  ]
  for (const [id, name, valid, invalid] of parameters) {
    const parameter = operations.find((each) => each.id === id)?.parameters.find((each) => each.name === name)
    for (const value of [...valid, ...invalid]) {
      t.equal(isValid(parameter?.schema ?? {}, value), valid.includes(value), `${id} with ${name} ${brief([value])}`)
    }
  }
})

t.test('an answer is as the specification has it: a plant of name and tag, plants, or an Error', async (t) => {
  const schemaOf = (id: string, status: string) =>
    operations.find((each) => each.id === id)?.responses.get(status)?.schema ?? {}
  const plants = [{ name: 'Rose' }, { name: 'Rose', tag: 'garden' }]
  const others = [{}, { tag: 'garden' }, { name: 'Rose', id: 7 }, { name: 'Rose', tag: null }, { name: 7 }, 'Rose', []]
  for (const [values, expected] of [
    [plants, true],
    [others, false],
  ] as const) {
    for (const value of values) {
      t.equal(isValid(schemaOf('createPayout', '200'), value), expected, JSON.stringify(value))
      t.equal(isValid(schemaOf('getPayout', '200'), [value]), expected, JSON.stringify([value]))
    }
  }
  t.notOk(isValid(schemaOf('getPayout', '200'), plants[0]))
  for (const { id, responses } of operations) {
    for (const status of [...responses.keys()].filter((each) => !each.startsWith('2'))) {
      const error = { error: 404, message: 'none' }
      t.ok(isValid(schemaOf(id, status), error), `${id} ${status}`)
      for (const other of [
        { error: 404 },
        { message: 'none' },
        { ...error, id: 7 },
        { ...error, error: '404' },
        [error],
      ]) {
        t.notOk(isValid(schemaOf(id, status), other), `${id} ${status} ${JSON.stringify(other)}`)
      }
    }
  }
})

t.test('the parameters of a path are those of its operations, whose own ones go first', async (t) => {
  const folder = t.testdir({
    'openapi.yaml': `paths:
  /plants/{id}:
    parameters: [{ in: path, name: id, description: shared }, { in: query, name: id, description: another }]
    delete: { operationId: remove, parameters: [{ in: path, name: id, description: own }] }`,
  })
  const { document } = readContract(`${folder}/openapi.yaml`)
  t.match(document, {
    paths: { '/plants/{id}': { delete: { parameters: [{ description: 'own' }, { description: 'another' }] } } },
  })
})

t.test('keywords beside a reference, and references to references, are kept', async (t) => {
  const file = t.testdir({
    'openapi.yaml': [
      'a: { $ref: "#/c", maxLength: 3 }',
      'b: { $ref: "#/a" }',
      'c: { $ref: "#/d~1e%20f" }',
      'd/e f: { type: string }',
      'g: { $ref: "#/c", description: said }',
    ].join('\n'),
  })
  t.match(readContract(`${file}/openapi.yaml`).document, {
    a: { allOf: [{ type: 'string' }, { maxLength: 3 }] },
    b: { allOf: [{ type: 'string' }, { maxLength: 3 }] },
    c: { type: 'string' },
    'd/e f': { type: 'string' },
    g: { type: 'string' },
  })
})
