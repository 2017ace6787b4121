// Contracts of several files are bundled, and the bundle is compiled and served.
import { readFileSync, symlinkSync } from 'node:fs'
import { resolve } from 'node:path'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { compile, readDraft } from '../../../test/support/inner/compiler.ts'
import { loadCompiler } from '../src/index.ts'
import { readContract } from '../../../test/support/inner/contract.ts'
import { fields } from '../../../test/support/inner/json.ts'
import { boot, contract } from '../../../test/support/contracts/serve-contract.ts'
import { post } from '../../../test/support/contracts/exchanges.ts'

const OPERATION = (schema: string) =>
  `{ operationId: run, requestBody: { required: true, content: { application/json: { x-body-limit: 999, schema: ${schema} } } }, responses: { '200': { description: Done, content: { application/json: {} } } } }`
const MAIN = (schema: string) => `paths: { /x: { post: ${OPERATION(schema)} } }\n`

type Files = Readonly<Record<string, string>>

/** Writes files, and reads the contract. @returns also the document as parsed by YAML 1.1 and 1.2 */
async function serve(t: Test, yaml: string, files: Files) {
  const folder = t.testdir({ 'openapi.yaml': contract(yaml), ...files })
  const { bytes, operations } = await readContract(`${folder}/openapi.yaml`, { loadCompiler })
  const text = String(bytes)
  const schemas = (version: '1.1' | '1.2') =>
    fields(fields(fields(parse(text, { version }))['components'])['schemas'])
  return { folder, text, operations, schemas }
}

/** The error of a contract. */
async function faultOf(t: Test, yaml: string, files: Files): Promise<string> {
  const folder = t.testdir({ 'openapi.yaml': contract(yaml), ...files })
  return compile(`${folder}/openapi.yaml`).then(() => '', String)
}

/** Sends bodies to the operation of a contract. @returns the statuses */
async function statuses(t: Test, yaml: string, files: Files, bodies: readonly unknown[]) {
  const app = await boot(t, { yaml, files })
  const answers = await Promise.all(bodies.map((body) => app.inject(post(body))))
  return answers.map(({ statusCode }) => statusCode)
}

t.test('the texts of a served bundle are texts for readers of YAML 1.1 and 1.2', async (t) => {
  const texts = [
    'NO',
    'on',
    '1.10',
    'null',
    '~',
    '2026-01-01',
    '0x10',
    '1_000',
    '12:30:45',
    '',
    '=',
    '<<',
    'a\u2028b\u0085c\u007f',
    '1e3',
    '.inf',
    '😀',
  ]
  const written = texts.map((text) => JSON.stringify(text)).join()
  const { schemas } = await serve(t, MAIN("{ $ref: 'a.yaml' }"), {
    'a.yaml': `{ enum: [${written}], properties: { 'on': {}, '1.10': {}, 'null': {} }, maximum: 9223372036854775807 }`,
  })
  for (const version of ['1.1', '1.2'] as const) {
    const { a } = schemas(version)
    const { enum: values, properties } = fields(a)
    t.strictSame(values, texts, version)
    t.strictSame(Object.keys(fields(properties)), ['on', '1.10', 'null'], version)
  }
})

t.test('a contract of one file is served as its bytes', async (t) => {
  const yaml = `${MAIN('{ type: string }')}x-a: { $ref: other.yaml } # here\r\n`
  const { text, folder } = await serve(t, yaml, {})
  t.equal(text, readFileSync(`${folder}/openapi.yaml`, 'utf8'))
})

t.test('bounds and examples beyond 2^53 are exact in a bundle', async (t) => {
  const files = {
    'a.yaml':
      'A: { type: integer, format: int64, minimum: 9007199254740993, maximum: 9223372036854775806, example: 9007199254740995 }\n',
  }
  const yaml = MAIN("{ $ref: 'a.yaml#/A' }")
  const { text } = await serve(t, yaml, files)
  for (const number of ['9007199254740993', '9223372036854775806', '9007199254740995'])
    t.match(text, number)
  const bodies = [
    '9007199254740993',
    '9007199254740992',
    '9223372036854775806',
    '9223372036854775807',
  ]
  t.strictSame(await statuses(t, yaml, files, bodies), [200, 400, 200, 400])
})

t.test('parts of one name in several files stay apart', async (t) => {
  const yaml = `${MAIN("{ type: object, properties: { a: { $ref: 'a/user.yaml' }, b: { $ref: 'b/user.yaml' }, c: { $ref: '#/components/schemas/user' } } }")}components: { schemas: { user: { const: own } } }\n`
  const files = {
    a: { 'user.yaml': "{ $ref: './id.yaml' }", 'id.yaml': '{ const: a }' },
    b: { 'user.yaml': "{ $ref: './id.yaml' }", 'id.yaml': '{ const: b }' },
  } as unknown as Files
  const bodies = [{ a: 'a', b: 'b', c: 'own' }, { a: 'b' }, { b: 'a' }, { c: 'a' }]
  t.strictSame(await statuses(t, yaml, files, bodies), [200, 400, 400, 400])
})

t.test(
  'a document of OpenAPI 3.0 may have several files; one of a single file is served as it was written',
  async (t) => {
    const old = (yaml: string) => contract(yaml).replace(/openapi: 3.1.\d/, 'openapi: 3.0.3')
    const yaml = old(MAIN("{ $ref: 'a.yaml#/A' }"))
    const files = {
      'a.yaml': 'A: { type: integer, nullable: true, minimum: 1, exclusiveMinimum: true }\n',
    }
    t.strictSame(await statuses(t, yaml, files, ['2', '1', 'null', '""']), [200, 400, 200, 400])
    const single = old(MAIN('{ type: integer, nullable: true }'))
    t.equal((await serve(t, single, {})).text, single)
  },
)

t.test('keywords beside $ref are not lost on the way through files', async (t) => {
  const yaml = MAIN("{ $ref: 'a.yaml#/A', minLength: 2 }")
  const files = {
    'a.yaml': "A: { $ref: 'b.yaml#/B', maxLength: 4 }\n",
    'b.yaml': "B: { $ref: '#/C', pattern: '^a', description: Of three. }\nC: { type: string }\n",
  }
  const bodies = ['"ab"', '"a"', '"abcde"', '"bb"', '7']
  t.strictSame(await statuses(t, yaml, files, bodies), [200, 400, 400, 400, 400])
  const { text } = await serve(t, yaml, files)
  t.strictSame(await statuses(t, text, {}, bodies), [200, 400, 400, 400, 400], 'as served')
})

t.test('files may refer to each other in circles', async (t) => {
  const yaml = MAIN("{ $ref: 'a.yaml#/A' }")
  const files = {
    'a.yaml':
      "A: { type: object, properties: { b: { $ref: 'b.yaml#/B' } }, additionalProperties: false }\n",
    'b.yaml':
      "B: { type: object, properties: { a: { $ref: 'a.yaml#/A' }, whole: { $ref: 'openapi.yaml#/components/schemas/C' } }, additionalProperties: false }\n",
  }
  const document = `${yaml}components: { schemas: { C: { type: array, items: { $ref: 'b.yaml#/B' } } } }\n`
  const bodies = [
    { b: { a: { b: {} } } },
    { b: { a: { c: 1 } } },
    { b: { whole: [{ a: {} }] } },
    { b: { whole: [7] } },
  ]
  t.strictSame(await statuses(t, document, files, bodies), [200, 400, 200, 400])
})

t.test(
  'names with other characters than letters are found, and get a name that OpenAPI allows',
  async (t) => {
    const yaml = MAIN(
      "{ type: object, properties: { a: { $ref: 'a%7Bb%7D.yaml#/x~1y%20%25~0' }, b: { $ref: './a%7Bb%7D.yaml' }, c: { $ref: '100%25.yaml' }, d: { $ref: 'a{b}.yaml#/z' } } }",
    )
    const files = {
      'a{b}.yaml': 'x/y %~: { type: integer }\nz: { type: boolean }\ntype: object\n',
      '100%.yaml': '{ "type": "string" }',
    }
    const bodies = [{ a: 1, b: {}, c: '', d: true }, { a: '' }, { b: 1 }, { c: 1 }, { d: 1 }]
    t.strictSame(await statuses(t, yaml, files, bodies), [200, 400, 400, 400, 400])
    const { schemas } = await serve(t, yaml, files)
    for (const name of Object.keys(schemas('1.2'))) t.match(name, /^[\w.-]+$/)
  },
)

t.test('files of JSON, with tabs, links to files, and paths with operations', async (t) => {
  const folder = t.testdir({
    'openapi.yaml': contract(
      "paths: { '/x/{id}': { $ref: 'users_%7Bid%7D.yaml' }, /y: { $ref: 'paths.json#/~1y' } }",
    ),
    'users_{id}.yaml': `parameters: [{ $ref: 'linked.yaml' }]\nget: ${OPERATION("{ $ref: 'real.yaml#/schema' }").replace(/requestBody.*responses/, 'responses')}\n`,
    'real.yaml': 'name: id\nin: path\nrequired: true\nschema: { type: string }\n',
    'paths.json': `{\r\n\t"/y": {\r\n\t\t"get": { "operationId": "y",\t"responses": { "204": { "description": "Done" } } }\r\n\t}\r\n}\r\n`,
  })
  symlinkSync('real.yaml', `${folder}/linked.yaml`)
  const { operations, sources } = await compile(`${folder}/openapi.yaml`)
  t.strictSame(
    operations.map(({ method, path }) => `${method} ${path}`),
    ['GET /x/{id}', 'GET /y'],
  )
  const names = ['openapi.yaml', 'users_{id}.yaml', 'linked.yaml', 'paths.json']
  t.strictSame(Object.keys(sources).sort(), names.sort(), 'each file is known')
})

t.test('npm run dev follows each file of a contract, also one that is missing', async (t) => {
  const folder = t.testdir({
    'openapi.yaml': contract(MAIN("{ anyOf: [{ $ref: 'sub/a.yaml' }, { $ref: 'none/b.yaml' }] }")),
    sub: { 'a.yaml': "{ $ref: '../b.yml' }" },
    'b.yml': '{ type: string }',
  })
  const { files } = await readDraft(`${folder}/openapi.yaml`, '.', {})
  const names = ['openapi.yaml', 'sub/a.yaml', 'b.yml', 'none/b.yaml']
  t.strictSame([...files].sort(), names.map((name) => resolve(folder, name)).sort())
})

t.test('what only people and clients read is no fault if it leads nowhere', async (t) => {
  const yaml = MAIN("{ $ref: 'a.yaml#/A' }")
  const files = {
    'a.yaml':
      "A: { type: object, discriminator: { propertyName: kind, mapping: { a: Cat, b: 'b.yaml' } }, example: { $ref: 'none.yaml' } }\n",
    'b.yaml': '{ type: object }',
  }
  const examples = 'examples: { one: { externalValue: https://example.com/a.json } }'
  t.equal(await faultOf(t, yaml.replace('x-body-limit', `${examples}, x-body-limit`), files), '')
})

t.test('components may be half written', async (t) => {
  const yaml = `${MAIN("{ $ref: 'a.yaml' }")}components: { schemas: , parameters: }`
  t.strictSame(await statuses(t, yaml, { 'a.yaml': '{ type: string }' }, ['""', 7]), [200, 400])
})

const FAULTS: Readonly<Record<string, readonly [yaml: string, files: Files, fault: RegExp]>> = {
  'a missing file': [
    MAIN("{ $ref: 'a.yaml' } "),
    {},
    /openapi\.yaml:3: Can't resolve \$ref: ENOENT/,
  ],
  'a missing file of another one': [
    MAIN("{ $ref: 'a.yaml' }"),
    { 'a.yaml': "type: array\nitems: { $ref: 'none.yaml' }" },
    /a\.yaml:2: Can't resolve \$ref: ENOENT/,
  ],
  'a pointer that leads nowhere in another file': [
    MAIN("{ $ref: 'a.yaml' }"),
    { 'a.yaml': "type: array\nitems: { $ref: '#/none' }" },
    /a\.yaml:2: Can't resolve \$ref/,
  ],
  'a URL': [
    MAIN("{ $ref: 'https://example.com/a.yaml' }"),
    {},
    /openapi\.yaml:3: .*only files are read: copy it/,
  ],
  'a URL in another file': [
    MAIN("{ $ref: 'a.yaml' }"),
    { 'a.yaml': '$ref: http://example.com/a.yaml' },
    /openapi\.yaml:3: .*only files are read: copy it/,
  ],
  'YAML that is not valid': [
    MAIN("{ $ref: 'a.yaml' }"),
    { 'a.yaml': 'a: 1\nb: }' },
    /a\.yaml:2: Unexpected flow-map-end/,
  ],
  'a schema that is not valid': [
    MAIN("{ $ref: 'a.yaml' }"),
    { 'a.yaml': 'type: array\nminItems: many' },
    /openapi\.yaml#\/components\/schemas\/a\/minItems: minItems must be integer/,
  ],
  'an operation in another file': [
    "paths: { /x: { $ref: 'a.yaml' } }",
    { 'a.yaml': 'get: { operationID: x, responses: { "204": { description: Done } } }' },
    /openapi\.yaml#\/paths\/~1x\/get\/operationID: .*Did you mean operationId/,
  ],
  'files that lead back to themselves': [
    MAIN("{ $ref: 'a.yaml' }"),
    { 'a.yaml': "{ $ref: 'b.yaml' }", 'b.yaml': "{ $ref: 'a.yaml' }" },
    /openapi\.yaml: .*circular/,
  ],
  'files that lead back to themselves by allOf': [
    MAIN("{ $ref: 'a.yaml' }"),
    { 'a.yaml': "allOf: [{ $ref: 'b.yaml' }]", 'b.yaml': "anyOf: [{ $ref: 'a.yaml' }]" },
    /openapi\.yaml#\/components\/schemas\/b\/anyOf\/0: the reference leads back to itself/,
  ],
  'a reference of the main file that leads back to itself': [
    `${MAIN("{ anyOf: [{ $ref: '#/components/schemas/A' }, { $ref: 'a.yaml' }] }")}components: { schemas: { A: { $ref: '#/components/schemas/A' } } }`,
    { 'a.yaml': 'type: string' },
    /openapi\.yaml:4: the reference leads back to itself/,
  ],
  'references that are no URIs': [
    MAIN("{ anyOf: [{ $ref: '#/components/schemas/a%b' }, { $ref: '100%.yaml' }] }"),
    {},
    /openapi\.yaml:3: this \$ref is no URI: write % as %25/,
  ],
  'a folder': [MAIN('{ $ref: sub }'), { sub: {} as unknown as string }, /openapi\.yaml:3: /],
  'a text': [MAIN('{ $ref: a.txt }'), { 'a.txt': 'type: string' }, /openapi\.yaml/],
}

for (const [name, [yaml, files, fault]] of Object.entries(FAULTS)) {
  t.test(`a fault of several files: ${name}`, async (t) => {
    const told = await faultOf(t, yaml, files)
    t.match(told, fault)
    t.notMatch(told, /TypeError|undefined|URIError/)
  })
}

t.test('keys are as they are written', async (t) => {
  const keys = ['1.10', '0x10', 'null', '~', 'true', '0o7', '1e3', '.inf', '9007199254740993', '-0']
  const members = keys.map((key) => `${key}: { type: string }`).join(', ')
  const yaml = MAIN(`{ properties: { ${members} } }`)
  const sent = Object.fromEntries(keys.map((key) => [key, 7]))
  for (const key of keys) {
    const [status] = await statuses(t, yaml, {}, [{ [key]: sent[key] }])
    t.equal(status, 400, key)
  }
  t.match(
    await faultOf(t, `${MAIN('{}')}x-a: { 1: a, '1': b }\n`, {}),
    /:4: Map keys must be unique/,
  )
  t.match(await faultOf(t, `${MAIN('{}')}x-a: { ? [a] : b }\n`, {}), /:4: a key must be a string/)
  t.equal(
    await faultOf(
      t,
      `${MAIN('{}')}x-a: { 1: a, 2: b, '<<': c }\nx-b: { <<: { a: 1 }, a: 2 }\n`,
      {},
    ),
    '',
  )
})

t.test('who can not read a document is told its files, those of other folders, too', async (t) => {
  const files = {
    parts: { 'item.yaml': '$ref: deeper/item.yaml', deeper: { 'item.yaml': 'a: [' } },
  }
  const yaml = contract(MAIN('{ $ref: parts/item.yaml }'))
  const folder = t.testdir({ 'openapi.yaml': yaml, ...files })
  const names = ['openapi.yaml', 'parts/item.yaml', 'parts/deeper/item.yaml']
  await t.rejects(readDraft(`${folder}/openapi.yaml`, '.', {}), {
    message: /deeper\/item.yaml:1: /,
    files: names.map((name) => `${folder}/${name}`),
  })
})
