// Names that programs and routers give a meaning of their own, and types that are written in other ways.
import type { InjectOptions } from 'fastify'
import t from 'tap'
import { boot } from '../../support/small.ts'
import { allows, serve } from './described.ts'

const DONE = "responses: { '200': { description: Done, content: { application/json: {} } } }"
const post = (url: string, type: string | undefined, payload?: string | Buffer): InjectOptions => ({
  method: 'POST',
  url,
  ...(type !== undefined && { headers: { 'content-type': type } }),
  ...(payload !== undefined && { payload }),
})

t.test('parameters of a path that differ in punctuation have a value each', async (t) => {
  const names = ['a-b', 'a_b', 'a.b', 'a_45_b']
  const parameters = names.map((name) => `{ name: '${name}', in: path, required: true, schema: { type: string } }`)
  const app = await boot(t, {
    yaml: `paths: { '/${names.map((name) => `{${name}}`).join('/')}': { get: { operationId: run, parameters: [${parameters.join()}], ${DONE} } } }\n`,
  })
  const { path } = (await app.inject('/1/2/3/4')).json<{ path: unknown }>()
  t.strictSame(path, { 'a-b': '1', a_b: '2', 'a.b': '3', a_45_b: '4' })
})

t.test('true and false are schemas wherever JSON Schema has one', async (t) => {
  const table: [schema: string, valid: unknown[], invalid: unknown[]][] = [
    ['true', [1, {}], []],
    ['false', [], [1, {}]],
    ['{ allOf: [true, { type: string }] }', ['a'], [1]],
    ['{ anyOf: [false, { type: string }] }', ['a'], [1]],
    ['{ oneOf: [true, false] }', [1], []],
    ['{ not: false }', [1], []],
    ['{ if: true, then: { type: string }, else: false }', ['a'], [1]],
    ['{ prefixItems: [true, false], contains: true }', [[1]], [[1, 2], []]],
    ['{ propertyNames: false }', [{}], [{ a: 1 }]],
    ['{ dependentSchemas: { a: false, b: true } }', [{ b: 1 }], [{ a: 1 }]],
    ['{ patternProperties: { "^a": false }, $defs: { x: true } }', [{ b: 1 }], [{ a: 1 }]],
    [
      "{ properties: { a: { $ref: '#/components/schemas/Yes' }, b: { $ref: '#/components/schemas/No' } } }",
      [{ a: 1 }],
      [{ b: 1 }],
    ],
  ]
  for (const [schema, valid, invalid] of table)
    await allows(
      t,
      `A: ${schema}\nYes: true\nNo: false\nChain: { $ref: '#/components/schemas/Yes', $defs: {} }`,
      valid,
      invalid,
    )
  const app = await boot(t, {
    yaml: '      parameters: [{ name: a, in: query, schema: true }, { name: b, in: query, schema: false }]',
  })
  t.equal((await app.inject('/x?a=1')).statusCode, 200)
  t.equal((await app.inject('/x?b=1')).statusCode, 400)
})

t.test('members may have the names of an object of JavaScript', async (t) => {
  const names = ['constructor', 'hasOwnProperty', 'toString', 'valueOf', 'isPrototypeOf', 'prototype', 'length']
  for (const name of names) {
    const schemas = `A: { $ref: '#/components/schemas/${name}' }
${name}: { type: object, required: [${name}], properties: { ${name}: { type: integer } }, dependentRequired: { ${name}: [a] }, dependentSchemas: { ${name}: { minProperties: 2 } }, $defs: { ${name}: { type: string } }, additionalProperties: false, patternProperties: { '^a': true } }`
    await allows(t, schemas, [{ [name]: 1, a: 1 }], [{}, { a: 1 }, { [name]: 1 }, { [name]: 'x', a: 1 }])
  }
  const { request } = await serve(t, 'A: { type: object, properties: { constructor: { type: integer, default: 7 } } }')
  t.strictSame((await request('{}')).got, { constructor: 7 })
})

t.test('the media types of a contract are compared without regard to case', async (t) => {
  const app = await boot(t, {
    yaml: `x-body-limit: 99
paths:
  /a: { post: { operationId: a, requestBody: { content: { Application/JSON: { schema: { type: integer } }, Text/Plain: {} } }, ${DONE} } }
  /b: { post: { operationId: b, requestBody: { content: { application/Vnd.A+json: {}, application/json: {} } }, responses: { '200': { description: Done, content: { Application/Json: { schema: { type: object } } } } } } }\n`,
  })
  t.equal((await app.inject(post('/a', 'application/json', '7'))).statusCode, 200)
  t.equal((await app.inject(post('/a', 'APPLICATION/json', '"a"'))).statusCode, 400)
  t.equal((await app.inject(post('/a', 'text/plain', 'a'))).body, '{"body":"a"}')
  const { headers, body } = await app.inject(post('/b', 'application/vnd.a+JSON', '7'))
  t.match([headers['content-type'], body], [/^application\/json/i, '{"body":7}'])
})

t.test('a field of a form is UTF-8', async (t) => {
  const app = await boot(t, {
    yaml: '      requestBody: { content: { multipart/form-data: { x-body-limit: 999, schema: { type: object, properties: { a: { type: string } } } } } }',
  })
  const send = (bytes: number[], name: string | Buffer = 'a') =>
    app.inject(
      post(
        '/x',
        'multipart/form-data; boundary=b',
        Buffer.concat([
          Buffer.from('--b\r\nContent-Disposition: form-data; name="'),
          Buffer.from(name),
          Buffer.from('"\r\n\r\n'),
          Buffer.from(bytes),
          Buffer.from('\r\n--b--\r\n'),
        ]),
      ),
    )
  t.equal((await send([0xc3, 0xa9])).body, '{"body":{"a":"é"}}')
  t.equal((await send([0xef, 0xbf, 0xbd])).body, '{"body":{"a":"\ufffd"}}')
  for (const bytes of [[0xff], [0xc3], [0xe9, 0x20], [0xed, 0xa0, 0x80]])
    t.equal((await send(bytes)).statusCode, 400, String(bytes))
  const other = Buffer.from('\r\n--b\r\nContent-Disposition: form-data; name="b"\r\n\r\n\ufffd')
  t.equal((await send([0xff, ...other])).statusCode, 400, 'another field has what is written in its place')
  t.equal((await send([0x78, ...other])).body, '{"body":{"a":"x","b":"\ufffd"}}')
  t.equal((await send([0x78], Buffer.of(0xff))).statusCode, 400, 'a name')
})

t.test('an offset of a date-time has its minutes', (t) =>
  allows(
    t,
    'A: { type: string, format: date-time }',
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.5+01:00', '2026-01-01t00:00:00z'],
    [
      '2026-01-01T00:00:00+01',
      '2026-01-01T00:00:00+0100',
      '2026-01-01T00:00:00',
      '2026-01-01 00:00:00Z',
      '2026-02-30T00:00:00Z',
    ],
  ),
)
