import { Readable } from 'node:stream'
import type { InjectOptions } from 'fastify'
import type { Input, Refused, Served } from '../../../support/small.ts'

const body = (content: string, rest = '') =>
  `      requestBody:\n${rest}        content:\n${content.replaceAll(/^/gm, '          ')}`
const post = (payload: string | Buffer, type = 'application/json'): InjectOptions => ({
  method: 'POST',
  url: '/x',
  headers: { 'content-type': type },
  payload,
})
/** Sends a body without its length, by which it could be refused before it is read. */
const chunked = ({ headers, payload, ...rest }: InjectOptions): InjectOptions => ({
  ...rest,
  headers: { ...headers, 'transfer-encoding': 'chunked' },
  payload: Readable.from([payload]),
})
const bytesOf = async ({ body }: Input) => {
  const chunks = await Array.fromAsync((body ?? []) as AsyncIterable<Uint8Array>)
  return { status: 200, body: { bytes: Buffer.concat(chunks).toString('latin1') } }
}
const form = (...parts: string[]) =>
  post(
    [...parts.map((part) => `--b\r\nContent-Disposition: form-data; ${part}\r\n`), '--b--\r\n'].join(''),
    'multipart/form-data; boundary=b',
  )
const filesOf = async ({ body }: Input) => {
  const entries = Object.entries(body as Record<string, unknown>).map(async ([name, value]) => [
    name,
    value instanceof File ? `${value.name} ${value.type} ${await value.text()}` : value,
  ])
  return { status: 200, body: Object.fromEntries((await Promise.all(entries)) as [string, unknown][]) }
}

/** Constructs of request bodies, by their names in the README. */
export const BODIES: Readonly<Record<string, Served | Refused>> = {
  'a body of `application/json`, or of a type that ends with `+json`': {
    yaml: body(
      'application/json: { schema: { type: boolean } }\napplication/vnd.x+json: { schema: { type: boolean } }',
      '        required: true\n',
    ),
    asks: [
      [post('true'), 200, '{"body":true}'],
      [post('true', 'application/vnd.x+json; charset=utf-8'), 200, '{"body":true}'],
      [post('7'), 400, /body must be boolean/],
      [post('true', 'application/x+json'), 415, /application\/json or application\/vnd.x\+json/],
      [post('true', 'application/json; charset=latin1'), 415],
      [{ method: 'POST', url: '/x' }, 400, /needs a body/],
      [post(''), 400, /needs a body/],
    ],
  },
  'a body that is not `required`': {
    yaml: body('application/json: { schema: { type: integer } }'),
    asks: [
      [{ method: 'POST', url: '/x' }, 200, '{}'],
      [post(''), 200, '{}'],
      [post('7'), 200, '{"body":7}'],
      [post('null'), 400],
    ],
  },
  'a body of `get` or `delete`': {
    yaml: `paths:\n  /x:\n    delete:\n      operationId: run\n      requestBody: { content: { application/json: {} } } # here\n      responses: { '204': { description: Done } }\n`,
    says: 'a body of delete is not served',
  },
  'a body of `text/plain` or another text': {
    yaml: body('text/plain: { schema: { type: string, maxLength: 3 } }'),
    asks: [
      [post('é 🌱', 'text/plain'), 200, '{"body":"é 🌱"}'],
      [post('abcd', 'text/plain; charset="utf-8"'), 400, /body must NOT have more than 3/],
      [post(Buffer.from([0xff]), 'text/plain'), 400, /UTF-8/],
      [post('', 'text/plain'), 200, '{"body":""}'],
    ],
  },
  'a body of `application/octet-stream` or another type of bytes, as they arrive': {
    yaml: body(
      'application/octet-stream: { schema: { type: string, format: binary }, x-body-limit: 4 }\nimage/png: { x-body-limit: 4 }',
    ),
    run: bytesOf,
    asks: [
      [post(Buffer.from([0xff, 0, 1]), 'application/octet-stream'), 200, '{"bytes":"ÿ\\u0000\\u0001"}'],
      [post(Buffer.from('abcd'), 'image/png'), 200, '{"bytes":"abcd"}'],
      [post(Buffer.from('abcde'), 'image/png'), 413, /too long/],
      [{ method: 'POST', url: '/x' }, 200, '{"bytes":""}'],
    ],
  },
  'a schema of bytes that says more than `type: string, format: binary`': {
    yaml: body('image/png:\n  x-body-limit: 9\n  schema: { type: string, maxLength: 7 } # here'),
    says: 'write "type: string, format: binary"',
  },
  'a body of `multipart/form-data`': {
    yaml: body(`multipart/form-data:
  x-body-limit: 200
  schema:
    type: object
    required: [id]
    properties:
      id: { type: integer, format: int64 }
      photo: { type: string, format: binary }
      tags: { type: array, items: { type: string, maxLength: 3 } }
      more: { type: object, properties: { n: { type: integer, format: int64 } } }
    additionalProperties: false`),
    run: filesOf,
    asks: [
      [form('name=id\r\n\r\n9007199254740993'), 200, '{"id":9007199254740993}'],
      [
        form('name=id\r\n\r\n7', 'name=photo; filename=a.png\r\nContent-Type: image/png\r\n\r\nPNG'),
        200,
        '{"id":7,"photo":"a.png image/png PNG"}',
      ],
      [form('name=id\r\n\r\n7', 'name=tags\r\n\r\na', 'name=tags\r\n\r\nb'), 200, '{"id":7,"tags":["a","b"]}'],
      [
        form('name=id\r\n\r\n7', 'name=more\r\nContent-Type: application/json\r\n\r\n{"n":9007199254740993}'),
        200,
        '{"id":7,"more":{"n":9007199254740993}}',
      ],
      [form('name=id\r\n\r\nx'), 400, /body\/id must be an integer/],
      [form('name=id\r\n\r\n7', 'name=id\r\n\r\n7'), 400, /body\/id must not be repeated/],
      [form('name=id\r\n\r\n7', 'name=photo\r\n\r\nPNG'), 400, /body\/photo must be a file/],
      [form('name=id\r\n\r\n7', 'name=other\r\n\r\n7'), 400, /body must not have the property other/],
      [form('name=id\r\n\r\n7', `name=photo; filename=a\r\n\r\n${'x'.repeat(200)}`), 413],
      // As long as the body may be in characters, not in bytes.
      [chunked(form(`name=tags\r\n\r\n${'é'.repeat(190)}`)), 413],
      [post('x', 'multipart/form-data'), 400],
      [post('x', 'multipart/form-data; boundary=b'), 400],
    ],
  },
  'a file of a form with `minLength`, `maxLength` in bytes, or with `contentMediaType` and no encoding': {
    yaml: body(
      'multipart/form-data:\n  schema: { type: object, properties: { a: { type: string, minLength: 2, maxLength: 3, contentMediaType: image/png } } }',
    ),
    run: filesOf,
    asks: [
      [form('name=a; filename=a\r\n\r\né'), 200, '{"a":"a text/plain é"}'],
      [form('name=a; filename=a\r\n\r\nx'), 400, /body\/a must be a file of 2 to 3 bytes/],
      [form('name=a; filename=a\r\n\r\nxxxx'), 400],
    ],
  },
  'a file of a form with other keywords than these': {
    yaml: body(
      'multipart/form-data:\n  schema:\n    type: object\n    properties:\n      a:\n        type: string\n        pattern: a\n        format: binary # here',
    ),
    says: 'a file of a form is "type: string, format: binary" with minLength and maxLength, and no more is served',
  },
  '`encoding` of a media type': {
    yaml: body(
      'multipart/form-data:\n  x-body-limit: 9\n  schema: { type: object }\n  encoding: { a: { contentType: image/png } } # here',
    ),
    says: '"encoding" is not served',
  },
  '`application/x-www-form-urlencoded`, XML, YAML, streams of events, `multipart/mixed`, media types with `*` or `;`': {
    yaml: body('application/x-www-form-urlencoded: { schema: { type: object } } # here'),
    says: 'write multipart/form-data or application/json',
  },
  'a body of any length': {
    yaml: body('application/json: { schema: { type: string } }'),
    run: async () => ({ status: 200, body: 1 }),
    note: 'a body of up to 1048576 bytes is taken, more is 413: "x-body-limit" changes that',
    asks: [
      [post(JSON.stringify('x'.repeat(1_048_574))), 200],
      [post(JSON.stringify('x'.repeat(1_048_575))), 413],
    ],
  },
  '`x-body-limit` of a media type or of the document: the most bytes of a body; more: 413': {
    yaml: body('application/json: { x-body-limit: 30000 }\nimage/png: { x-body-limit: 50000 }'),
    asks: [
      [chunked(post(JSON.stringify('x'.repeat(29_999)))), 413],
      [post(JSON.stringify('x'.repeat(29_998))), 200],
      [post(JSON.stringify('x'.repeat(29_999))), 413],
    ],
  },
}
