// Tests the makers of the tests from a contract. If one gave no values, or accepted everything, those tests would always
// pass.
import { fail } from 'node:assert'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { Product } from '@plant-store/engine'
import { contentTypeOf, written } from '../src/requests/bodies.ts'
import { contractOf, type Operation } from '../src/contract/contract.ts'
import { withCredentials } from '../src/contract/credentials.ts'
import { cursorsOf } from '../src/requests/cursors.ts'
import { stringify } from '../src/json/json.ts'
import { faultOf as faultOfAny } from '../src/answers/documented.ts'
import {
  assertDocumented,
  faultOf,
  operations,
} from '../../../test/support/contracts/product-contract.ts'
import { product } from '../../../test/support/product/product.ts'
import { isSendable, takes, textsOf } from '../src/requests/parameters.ts'
import { exampleOf, inputsOf, namedExamples, toCall } from '../src/requests/requests.ts'
import { askExamples } from '../src/tests/examples.ts'
import { arbitraryOf, samplesOf } from '../src/schemas/samples.ts'
import { isValid } from '../src/schemas/schemas.ts'
import { schemaReader } from '../src/schemas/schema-reader.ts'
import { violationsOf } from '../src/schemas/violations.ts'
import { contract } from '../../../test/support/contracts/serve-contract.ts'

const SCHEMA = schemaReader({})({
  type: 'object',
  required: ['id', 'name'],
  properties: {
    id: { type: 'integer', format: 'int64', minimum: 1 },
    name: { type: 'string', maxLength: 3, pattern: '^[a-z]*$' },
    kind: { enum: ['a', 'b'] },
  },
  additionalProperties: false,
})
const VALID: unknown[] = [
  { id: 1n, name: 'abc' },
  { id: 2n ** 63n - 1n, name: '', kind: 'a' },
]
const INVALID: unknown[] = [
  ...[0, 1.5, 2n ** 63n, '1'].map((id) => ({ id, name: 'a' })),
  ...['abcd', 'A', undefined].map((name) => ({ id: 1, name })),
  ...[{ kind: 'c' }, { more: 1 }].map((rest) => ({ id: 1, name: 'a', ...rest })),
]
const operation = (wanted: string): Operation =>
  operations.find(({ id }) => id === wanted) ?? fail(wanted)
const [create, list, remove] = [
  operation('createPayout'),
  operation('getPayout'),
  operation('deletePayout'),
]
const [limit = fail()] = list.parameters
/** The requests of an operation, for many of its inputs. */
const pathsOf = (from: Operation, cursors: readonly string[] = []) =>
  fc
    .sample(inputsOf(from, cursors), { numRuns: 50, seed: 1 })
    .map((input) => toCall(from, input).path)

t.test(
  'the validator accepts valid values only, and generated ones are valid, and differ',
  async (t) => {
    const accepted = VALID.concat(INVALID).filter((value) => isValid(SCHEMA, value))
    t.strictSame(accepted, VALID)
    const values = fc.sample(arbitraryOf(SCHEMA), { numRuns: 100, seed: 1 })
    t.ok(values.every((value) => isValid(SCHEMA, value)))
    t.ok(new Set(values.map(stringify)).size > 20)
    t.ok(samplesOf(SCHEMA, 20).length > 1)
  },
)

t.test(
  'mutants violate each rule of a schema, and a rule that nothing violates is named',
  async (t) => {
    const { mutants, skipped } = violationsOf(SCHEMA, [VALID[1]])
    t.strictSame(skipped, [])
    const values = mutants.map(([, value]) => value)
    t.ok(values.some((value) => isValid(SCHEMA, value)))
    t.ok(values.some((value) => !isValid(SCHEMA, value)))
    const rules = violationsOf(SCHEMA, [VALID[1]], () => []).skipped.map(({ rule }) => rule)
    t.strictSame(rules, [
      ...['/required/id', '/required/name', '/properties/id/minimum', '/properties/id/type'],
      ...['/properties/name/maxLength', '/properties/name/pattern', '/properties/name/type'],
      ...['/properties/kind/enum', '/additionalProperties', '/type'],
    ])
  },
)

t.test(
  'texts for a parameter violate each of its rules; an integer has only decimal digits',
  async (t) => {
    const { sent, skipped } = textsOf(limit)
    t.strictSame(skipped, [])
    for (const isRight of [true, false])
      t.ok(sent.filter((text) => text.isRight === isRight).length > 3)
    for (const text of ['1', '2147483647'])
      t.ok(takes(limit, text) && isSendable(limit, text), text)
    for (const text of ['0', '2147483648', '1.0', '01', '0x1', '', 'a', '\uD800'])
      t.notOk(takes(limit, text), text)
    t.notOk(isSendable({ ...limit, in: 'path' }, ''))
    t.notOk(isSendable({ ...limit, in: 'header' }, 'a\nb'))
  },
)

t.test('objects and JSON are sent as parameters, right and wrong, as OpenAPI says', async (t) => {
  const item = '{ type: object, required: [b], properties: { b: { type: integer } } }'
  const example = 'example: { b: 7, c: "x,y" }'
  const parameters = [
    `{ name: deep, in: query, style: deepObject, schema: ${item}, ${example} }`,
    `{ name: pairs, in: query, explode: false, schema: ${item}, ${example} }`,
    `{ name: members, in: query, schema: ${item}, ${example} }`,
    `{ name: json, in: query, content: { application/json: { schema: ${item}, ${example} } } }`,
    `{ name: p, in: path, required: true, explode: true, schema: ${item}, ${example} }`,
    `{ name: cookie, in: cookie, explode: false, schema: ${item}, ${example} }`,
  ]
  const text = `paths: { '/{p}': { get: { operationId: one, parameters: [${parameters.join()}] } } }`
  const [get = fail(text)] = (await contractFrom(t, text)).operations
  const { path, headers } = toCall(get, exampleOf(get))
  const json = encodeURIComponent('{"b":7,"c":"x,y"}')
  t.equal(
    path,
    `/b=7,c=x%2Cy?deep%5Bb%5D=7&deep%5Bc%5D=x%2Cy&pairs=b,7,c,x%2Cy&b=7&c=x%2Cy&json=${json}`,
  )
  t.strictSame(headers, ['Cookie', 'cookie=b,7,c,x%2Cy'])
  for (const parameter of get.parameters) {
    const { sent } = textsOf(parameter)
    for (const isRight of [true, false])
      t.ok(sent.filter((texts) => texts.isRight === isRight).length > 3, parameter.name)
  }
})

t.test(
  'the operations of the contract are read, and asked, with their parameters, bodies and responses',
  async (t) => {
    t.strictSame([create.method, create.path, create.isGuarded], ['POST', '/plants', true])
    t.ok(create.body?.examples.length)
    t.equal(
      list.parameters.map(({ name, required }) => `${name} ${required ? 1 : 0}`).join(),
      'limit 0,cursor 0',
    )
    t.match([...list.responses.keys()].join(), /^200,400,/)
    t.match(namedExamples(create), [{ name: 'monstera' }, { name: 'aloe' }])
    t.equal(toCall(remove, exampleOf(remove)).path, '/plants/7')
    t.equal(toCall(list, exampleOf(list)).path, '/plants?limit=20')
    t.ok(new Set(pathsOf(list)).size > 20)
  },
)

t.test(
  'the scopes of the contract are read, also over a merge key, and which operations need one',
  async (t) => {
    const paths = `
  /a: { get: { operationId: one }, post: { operationId: two, security: [{ token: [write, all] }, { other: [all] }] } }
  /b: { get: &open { operationId: three, security: [{ token: [write] }, {}] }, post: { <<: *open, operationId: four } }`
    const { operations, scopes } = await contractFrom(
      t,
      `security: [{ token: [read] }]\npaths:${paths}`,
    )
    const scoped = operations.filter(({ isScoped }) => isScoped)
    t.strictSame(scopes, ['read', 'write', 'all'])
    t.equal(scoped.map(({ id }) => id).join(), 'one,two')
  },
)

t.test(
  'a token is sent where security says, and not where only the product knows credentials',
  async (t) => {
    const components = `components: { securitySchemes: {
  token: { type: oauth2 }, login: { type: http, scheme: basic }, head: { type: apiKey, in: header, name: X-Key },
  query: { type: apiKey, in: query, name: a key }, cookie: { type: apiKey, in: cookie, name: sid },
  own: { type: apiKey, in: header, name: X-Own } } }`
    const paths = Object.entries({
      token: '[{ login: [] }, { token: [], query: [] }, { token: [] }]',
      keys: '[{ head: [], query: [], cookie: [] }]',
      login: '[{ login: [] }, { own: [], token: [] }]',
      open: '[{ token: [] }, {}]',
    }).map(([id, security]) => `\n  /${id}: { get: { operationId: ${id}, security: ${security} } }`)
    const { operations } = await contractFrom(t, `${components}\npaths:${paths.join('')}`, {
      guards: { own: () => undefined },
    })
    const sent = operations.map(({ id, isGuarded, credentials }) => {
      const { path, headers } = withCredentials({ path: `/${id}?a=b` }, credentials ?? [], 'x')
      return [isGuarded, path, headers.join(' ')]
    })
    t.strictSame(sent, [
      [true, '/token?a=b&a%20key=x', 'Authorization Bearer x'],
      [true, '/keys?a=b&a%20key=x', 'X-Key x Cookie sid=x'],
      [true, '/login?a=b', ''],
      [false, '/open?a=b', 'Authorization Bearer x'],
    ])
  },
)

t.test('a body is written by its media type, which is sent with it', async (t) => {
  const schema = { properties: { file: { type: 'string', format: 'binary' } } }
  const value = { a: [1, 'b c'], file: 'GIF' }
  const write = (type: string) => `${contentTypeOf({ type })} ${written({ type, schema }, value)}`
  t.equal(write('application/merge-patch+json'), `application/merge-patch+json ${stringify(value)}`)
  t.equal(
    write('application/x-www-form-urlencoded'),
    'application/x-www-form-urlencoded a=1&a=b+c&file=GIF',
  )
  t.match(
    write('multipart/form-data'),
    /^multipart\/form-data; boundary=(.*) --\1\r\n[^]*name="a"\r\n\r\nb c\r\n--\1/,
  )
  t.match(write('multipart/form-data'), /name="file"; filename="file"\r\n\r\nGIF\r\n--.*--\r\n$/)
  t.equal(written({ type: 'text/plain', schema: {} }, 'a'), 'a')
  t.equal(contentTypeOf({ type: 'image/*' }), 'image/x-any')
})

t.test(
  'the media type of a body is JSON if that is among them, and its limit is that of the document',
  async (t) => {
    const content =
      "{ image/*: {}, application/problem+json: { schema: { type: string, format: 'a-b' } } }"
    const post = `{ operationId: one, requestBody: { content: ${content} } }`
    const bytes =
      '{ operationId: two, requestBody: { required: true, content: { image/*: { schema: { maxLength: 9 } } } } }'
    const isGood = (text: string) => text === 'good'
    const text = `x-body-limit: 20\npaths: { /a: { post: ${post}, put: ${bytes} } }`
    const [{ body } = fail(text), second] = (
      await contractFrom(t, text, { formats: { 'a-b': isGood } })
    ).operations
    t.match(body, { type: 'application/problem+json', required: false, limit: 20 })
    t.match(second, { body: { type: 'image/*', required: true, limit: 9 } })
    t.strictSame(
      ['good', 'bad'].map((value) => isValid(body?.schema ?? {}, value)),
      [true, false],
      'a format of the product',
    )
  },
)

t.test('a cursor is one that a list has given, or none', async (t) => {
  const cursors = pathsOf(list, ['AAAAAAAAAAc']).map((path) =>
    new URL(path, 'http://host').searchParams.get('cursor'),
  )
  t.strictSame(new Set(cursors), new Set([null, 'AAAAAAAAAAc']))
  const pages = ['<?limit=1&cursor=b>; rel="next"', '<?limit=1&cursor=c>; rel="next"', undefined]
  const sent: string[] = []
  const received = await cursorsOf(list, [create, list], (call) => {
    if (call.method === 'GET') sent.push(call.path)
    return Promise.resolve({
      status: 200,
      headers: { link: pages[sent.length - 1] },
      text: '',
      json: [],
    })
  })
  t.strictSame(received, ['b', 'c'])
  t.strictSame(sent, ['/plants?limit=1', '/plants?limit=1&cursor=b', '/plants?limit=1&cursor=c'])
})

// An answer with an undocumented part fails a test.
const others = {
  'cache-control': 'no-store',
  'content-security-policy': "sandbox; default-src 'none'",
  'x-content-type-options': 'nosniff',
  'x-request-id': 'a',
}
const headers = { ...others, 'content-type': 'application/json' }
const plant = { status: 200, headers, text: '{"name":"Rose"}' }
const error = { status: 404, headers, text: '{"error":404,"message":"No such plant"}' }

const faults: Record<string, Parameters<typeof faultOf>> = {
  'a status without a response': ['POST', '/plants', { ...plant, status: 201 }],
  'a status of another operation': [
    'GET',
    '/plants',
    { ...error, status: 409, text: '{"error":409,"message":"x"}' },
  ],
  'an answer without an operation': ['GET', '/other', plant],
  'an additional member': ['POST', '/plants', { ...plant, text: '{"id":7,"name":"Rose"}' }],
  'a member that is missing': ['POST', '/plants', { ...plant, text: '{"tag":"Rose"}' }],
  'another type': ['GET', '/plants', plant],
  'invalid JSON': ['POST', '/plants', { ...plant, text: '{"name":"Rose"' }],
  'a body that the contract does not have': ['DELETE', '/plants/7', { ...plant, status: 204 }],
  'a body to HEAD': ['HEAD', '/plants', { ...plant, text: '[]' }],
  'another number in the Error': [
    'DELETE',
    '/plants/7',
    { ...error, text: '{"error":400,"message":"No"}' },
  ],
  'an unknown header': [
    'POST',
    '/plants',
    { ...plant, headers: Object.assign({ server: 'x' }, headers) },
  ],
  'a header with a wrong value': [
    'POST',
    '/plants',
    { ...plant, headers: { ...headers, 'cache-control': 'public' } },
  ],
  'a header that is missing': [
    'POST',
    '/plants',
    { ...plant, headers: { ...headers, 'x-request-id': undefined } },
  ],
  'another media type': [
    'POST',
    '/plants',
    { ...plant, headers: { ...headers, 'content-type': 'text/plain' } },
  ],
  '401 without WWW-Authenticate': [
    'GET',
    '/plants',
    { ...error, status: 401, text: '{"error":401,"message":"No"}' },
  ],
  'OPTIONS without Allow': ['OPTIONS', '/plants', { ...plant, status: 204, text: '' }],
}
for (const [what, answered] of Object.entries(faults)) {
  t.test(`not documented: ${what}`, async (t) => {
    t.throws(() => assertDocumented(...answered))
    t.ok(faultOf(...answered))
  })
}

t.test('an error outside of operations has the form that the product writes', async (t) => {
  const schema = { type: 'object', required: ['code'], properties: { code: { type: 'string' } } }
  const schemas = new Map([['application/problem+json', schema]])
  const response = { schemas, headers: new Map(), examples: [], named: {} }
  const own = await contractOf({
    ...product,
    errorBody: (status, reason) => ({ code: `E${status}`, reason }),
  })
  const operations = own.operations.map((operation) => ({
    ...operation,
    responses: new Map([['default', response]]),
  }))
  const fault = (type: string, body: object) => {
    const answer = {
      status: 405,
      headers: { ...headers, 'content-type': type },
      text: JSON.stringify(body),
    }
    return faultOfAny({ ...own, operations }, 'ACL', '/plants', answer)
  }
  t.equal(fault('application/problem+json', { code: 'E405', reason: 'No' }), undefined)
  t.match(fault('application/json', { code: 'E405', reason: 'No' }), 'application/problem+json')
  t.match(fault('application/problem+json', { code: 'E405' }), 'reason')
  t.match(fault('application/problem+json', { error: 405, message: 'No' }), 'code')
})

t.test('a success may be the default, and an error has the form of another error', async (t) => {
  const json = (schema: string) => `{ description: x, content: { application/json: ${schema} } }`
  const coded = json('{ schema: { type: object, required: [code] } }')
  const any = json('{}')
  const own = await contractFrom(
    t,
    `paths:
  /a: { get: { operationId: one, responses: { '400': ${coded}, default: ${any} } } }
  /b: { get: { operationId: two, responses: { '200': ${any}, '401': ${coded} } } }
  /c: { get: { operationId: three, responses: { '200': ${any} } } }`,
  )
  const fault = (path: string, status: number, body: object) =>
    faultOfAny(own, 'GET', path, { status, headers, text: JSON.stringify(body) })
  t.equal(fault('/a', 200, {}), undefined)
  t.equal(fault('/b', 400, { code: 400 }), undefined)
  t.match(fault('/b', 400, { error: 400, message: 'No' }), 'code')
  t.match(fault('/b', 201, {}), 'add the response 201')
})

t.test('an error that no operation describes looks like one of another operation', async (t) => {
  const json = (schema: string) => `{ description: x, content: { application/json: ${schema} } }`
  const coded = json('{ schema: { type: object, required: [code] } }')
  const said = json('{ schema: { type: object, required: [said] } }')
  const faultIn = async (...responses: readonly string[]) => {
    const paths = responses.map(
      (response, index) =>
        `  /p${index}: { get: { operationId: o${index}, responses: { ${response} } } }\n`,
    )
    const own = await contractFrom(t, `paths:\n${paths.join('')}`)
    return (path: string, body: object) =>
      faultOfAny(own, 'GET', path, { status: 400, headers, text: JSON.stringify(body) })
  }
  const fault = await faultIn(`'200': ${said}`, `'400': ${coded}`, `default: ${said}`)
  for (const path of ['/p0', '/none']) {
    t.equal(fault(path, { code: 400 }), undefined)
    t.equal(fault(path, { said: 'No' }), undefined)
    t.match(fault(path, { error: 400, message: 'No' }), 'code')
  }
  const usual = await faultIn(`'200': ${coded}`)
  t.equal(usual('/p0', { error: 400, message: 'No' }), undefined)
  t.match(usual('/p0', { code: 400 }), 'error')
})

/** Reads a contract from a string. */
function contractFrom(t: Test, text: string, added: Pick<Product, 'guards' | 'formats'> = {}) {
  const { href } = pathToFileURL(`${t.testdir({ 'openapi.yaml': contract(text) })}/openapi.yaml`)
  return contractOf({ ...product, ...added, contract: { ...product.contract, file: href } })
}

t.test(
  'a DELETE that is refused while other items need its item, is sent again after theirs',
  async (t) => {
    const [book, page, line] = ['book', 'page', 'line'].map((id) => ({ ...remove, id }))
    const left = ['book', 'page', 'line']
    const ask = async ({ id }: Operation) => {
      if (left.at(-1) !== id) return { status: 409 }
      left.pop()
      return { status: 204 }
    }
    const ordered = [create, book ?? fail(), page ?? fail(), line ?? fail()]
    const asked = await askExamples(ordered, ask)
    t.strictSame(
      asked.map(({ operation: { id }, answer: { status } }) => [id, status]),
      [
        [create.id, 409],
        ['book', 204],
        ['page', 204],
        ['line', 204],
      ],
    )
  },
)

t.test('a cursor is sent with the other parameters of its list', async (t) => {
  const string = 'in: query, schema: { type: string }'
  const yaml = `      parameters:
        - { name: author, ${string}, example: Le Guin }
        - { name: limit, in: query, schema: { type: integer, minimum: 1 } }
        - { name: cursor, ${string} }`
  const { operations } = await contractFrom(t, yaml)
  const queries = pathsOf(operations[0] ?? fail(), ['AAAA']).map(
    (path) => new URL(path, 'http://host').searchParams,
  )
  const authors = queries.filter((query) => query.has('cursor')).map((query) => query.get('author'))
  t.ok(authors.length > 10)
  t.strictSame(new Set(authors), new Set(['Le Guin']))
  t.ok(new Set(queries.map((query) => query.get('author'))).size > 3, 'without a cursor it is any')
})
