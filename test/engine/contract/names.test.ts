// Names that programs and routers give a meaning of their own, and types that are written in other ways.
import t from 'tap'
import { boot, post } from '../../support/small.ts'
import { allows, serve } from './described.ts'

const DONE = "responses: { '200': { description: Done, content: { application/json: {} } } }"
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
  t.equal((await app.inject(post('7', 'application/json', '/a'))).statusCode, 200)
  t.equal((await app.inject(post('"a"', 'APPLICATION/json', '/a'))).statusCode, 400)
  t.equal((await app.inject(post('a', 'text/plain', '/a'))).body, '{"body":"a"}')
  const { headers, body } = await app.inject(post('7', 'application/vnd.a+JSON', '/b'))
  t.match([headers['content-type'], body], [/^application\/json/i, '{"body":7}'])
})

t.test('a field of a form is UTF-8', async (t) => {
  const schema = '{ type: object, properties: { a: { type: string } } }'
  const app = await boot(t, {
    yaml: `      requestBody: { content: { multipart/form-data: { x-body-limit: 999, schema: ${schema} } } }`,
  })
  const field = (name: string, value: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  /** Sends fields. @param form its bytes in Latin-1 */
  const send = (form: string) =>
    app.inject(post(Buffer.from(`${form}--b--\r\n`, 'latin1'), 'multipart/form-data; boundary=b'))
  const REPLACED = '\xef\xbf\xbd' // U+FFFD, which decoders write in the place of other bytes
  t.equal((await send(field('a', '\xc3\xa9'))).body, '{"body":{"a":"é"}}')
  t.equal((await send(field('a', 'x') + field('b', REPLACED))).body, '{"body":{"a":"x","b":"\ufffd"}}')
  for (const bytes of ['\xff', '\xc3', '\xe9 ', '\xed\xa0\x80'])
    t.equal((await send(field('a', bytes))).statusCode, 400)
  t.equal((await send(field('a', '\xff') + field('b', REPLACED))).statusCode, 400, 'U+FFFD in another field')
  t.equal((await send(field('\xff', 'x'))).statusCode, 400, 'a name')
})
