// Contracts for the lines of SERVED.md about request bodies, with requests and their expected answers.
import { Readable } from 'node:stream'
import type { InjectOptions } from 'fastify'
import { fields } from '../../../../test/support/inner/json.ts'
import {
  accepted,
  ask,
  post,
  refused,
  urlencoded,
} from '../../../../test/support/contracts/exchanges.ts'
import { type Constructs, type Input } from '../../../../test/support/contracts/serve-contract.ts'

const body = (content: string, rest = '') =>
  `      requestBody:\n${rest}        content:\n${content.replaceAll(/^/gm, '          ')}`
/** Sends a body without `Content-Length`, so that it can't be refused before it is read. */
const chunked = ({ headers, payload, ...rest }: InjectOptions): InjectOptions => ({
  ...rest,
  headers: { ...headers, 'transfer-encoding': 'chunked' },
  payload: Readable.from([payload]),
})
const bytesOf = async ({ body }: Input) => {
  const chunks = await Array.fromAsync((body ?? []) as AsyncIterable<Uint8Array>)
  return { status: 200, body: { bytes: Buffer.concat(chunks).toString('latin1') } }
}
const bytesOfForm = (parts: readonly string[], encoding?: BufferEncoding) => {
  const body = parts
    .map((part) => `--b-1\r\nContent-Disposition: form-data; name=${part}\r\n`)
    .join('')
  return Buffer.from(`${body}--b-1--\r\n`, encoding)
}
const encoded = (encoding: BufferEncoding, parts: readonly string[]) =>
  post(bytesOfForm(parts, encoding), 'multipart/form-data; boundary=b-1')
/** A form of one part in Latin-1, with a preamble and an epilogue. */
const wrapped = (preamble: string, part: string, epilogue: string) =>
  post(
    Buffer.from(
      `${preamble}\r\n--b-1\r\nContent-Disposition: form-data; name=${part}\r\n--b-1--\r\n${epilogue}`,
      'latin1',
    ),
    'multipart/form-data; boundary=b-1',
  )
/** A multipart form. @param parts the rest of each part after `name=` */
const form = (...parts: string[]) => encoded('utf8', parts)
/** The bytes of a form with one empty field. */
const FORM_LENGTH = bytesOfForm(['a\r\n\r\n']).length
/** Expects the refusal of a form in Latin-1. */
const isNoText = (...parts: string[]) => ask(encoded('latin1', parts), 400, /must be text in UTF-8/)
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'] as const
/** Operations of all methods with a body. @param requestBody the body of each */
const eachMethod = (requestBody: string) =>
  `paths:\n  /x:\n${METHODS.map(
    (method) =>
      `    ${method.toLowerCase()}:\n      operationId: ${method}\n      ${requestBody}\n      responses: { '200': { description: Done, content: { application/json: {} } } }\n`,
  ).join('')}`
/** A media type of each kind of body. */
const KINDS = [
  'application/json',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=b-1',
  'image/png',
]
const NONE: InjectOptions = { method: 'POST', url: '/x' }
/** Expects that bodies of up to `limit` bytes are accepted, and longer ones refused. */
const upTo = (limit: number, bodyOf: (length: number) => InjectOptions) => [
  ask(bodyOf(limit), 200),
  ...[bodyOf(limit + 1), chunked(bodyOf(limit + 1))].map(isTooLong),
]
const FORM_TYPE = 'application/x-www-form-urlencoded'
const isTooLong = (request: InjectOptions) => ask(request, 413)
/** A JSON string of `length` bytes. */
const textOf = (length: number) => post(JSON.stringify('x'.repeat(length - 2)))
const ID = 'id\r\n\r\n7'
const REPLACED = '\xef\xbf\xbd' // U+FFFD in UTF-8: decoders replace invalid bytes by it
const PNG_TYPE = '\r\nContent-Type: image/png\r\n\r\n'
const JSON_TYPE = '\r\nContent-Type: application/json\r\n\r\n'
/** The numbers from 1 on. */
const names = (count: number, separator: string) =>
  Array.from({ length: count }, (_, index) => index + 1).join(separator)
/** JSON nested `levels` deep. @param open the beginning of each level */
function nested(open: string, levels: number): string {
  const pairs = open.match(/[[{]/g) ?? []
  const close = pairs.map((character) => (character === '[' ? ']' : '}')).reverse()
  const times = Math.floor(levels / pairs.length)
  const left = '['.repeat(levels % pairs.length)
  return open.repeat(times) + left + '0' + left.replaceAll('[', ']') + close.join('').repeat(times)
}
const ANY_FORM =
  '{ x-body-limit: 500000, schema: { type: object, properties: { a: { type: object } } } }'
const urlencodedField = (text: string) => urlencoded(`a=${encodeURIComponent(text)}`)
const multipartField = (text: string) => form(`a${JSON_TYPE}${text}`)
const jsonFile = (text: string) => form(`a; filename=blob${JSON_TYPE}${text}`)
const filesOf = async ({ body }: Input) => {
  const entries = Object.entries(body as Record<string, unknown>).map(async ([name, value]) => [
    name,
    value instanceof File ? `${value.name} ${value.type} ${await value.text()}` : value,
  ])
  return {
    status: 200,
    body: Object.fromEntries((await Promise.all(entries)) as [string, unknown][]),
  }
}

/** Constructs of request bodies, by their names in SERVED.md. */
export const BODIES: Constructs = {
  'a body of `application/json`, or of a type that ends with `+json`': {
    yaml: body(
      'Application/JSON: { schema: { type: boolean } }\napplication/Vnd.x+json: { schema: { type: boolean } }',
      '        required: true\n',
    ),
    asks: [
      ask(post('true'), 200, '{"body":true}'),
      ask(post('true', 'application/vnd.X+json; charset=utf-8'), 200, '{"body":true}'),
      ask(post('7'), 400, /body must be boolean/),
      ask(post('true', 'application/x+json'), 415, /application\/json or application\/vnd.x\+json/),
      ask(post('true', 'application/json; charset=latin1'), 415),
      ...[NONE, post('')].map((request) => ask(request, 400, /needs a body/)),
    ],
  },
  'a body that is not `required`; an empty one is none, whatever its type': {
    yaml: eachMethod(
      'requestBody: { content: { application/json: { schema: { type: integer } }, text/plain: {}, multipart/form-data: { schema: { type: object } }, application/x-www-form-urlencoded: { schema: { type: object } }, image/png: {} } }',
    ),
    asks: METHODS.flatMap((method) => [
      ask({ method, url: '/x' }, 200, '{}'),
      ...[...KINDS, 'application/xml', 'x', '/;,"', ''].flatMap((type) => [
        ask({ ...post('', type), method }, 200, '{}'),
        ask({ ...chunked(post('', type)), method }, 200, '{}'),
      ]),
      ask({ ...post('7'), method }, 200, '{"body":7}'),
      ask({ ...chunked(post('7')), method }, 200, '{"body":7}'),
      ask({ ...post('null'), method }, 400),
      ...[post('7', 'application/xml'), chunked(post('7', 'application/xml'))].map((request) =>
        ask({ ...request, method }, 415),
      ),
    ]),
  },
  'a body that is `required`; an empty one is 400, whatever its type': {
    yaml: eachMethod(
      'requestBody: { required: true, content: { application/json: {}, text/plain: {}, multipart/form-data: { schema: { type: object } }, application/x-www-form-urlencoded: { schema: { type: object } }, image/png: {} } }',
    ),
    asks: METHODS.flatMap((method) => [
      ask({ method, url: '/x' }, 400, /needs a body/),
      ...KINDS.flatMap((type) => [
        ask({ ...post('', type), method }, 400, /needs a body/),
        ask({ ...chunked(post('', type)), method }, 400, /needs a body/),
      ]),
      ask({ ...chunked(post('7', 'application/xml')), method }, 415),
    ]),
  },
  'a body of `delete`': {
    yaml: `paths:\n  /x:\n    delete:\n      operationId: run\n      requestBody: { content: { application/json: {} } }\n      responses: { '200': { description: Done, content: { application/json: {} } } }\n`,
    asks: [
      ask({ ...post('[7]'), method: 'DELETE' }, 200, '{"body":[7]}'),
      ask({ method: 'DELETE', url: '/x' }, 200, '{}'),
      ask({ ...post('7', 'text/plain'), method: 'DELETE' }, 415),
    ],
  },
  'a body of `get` or `head`: it is not read': {
    yaml: `paths:\n  /x:\n    get:\n      operationId: run\n      requestBody: { required: true, content: { application/json: {} } }\n      responses: { '200': { description: Done, content: { application/json: {} } } }\n`,
    asks: [ask('/x', 200, '{}'), ask({ ...post('{'), method: 'GET' }, 200, '{}')],
  },
  'a body of `text/plain` or another `text/` type': {
    yaml: body('Text/Plain: { schema: { type: string, maxLength: 3 } }'),
    asks: [
      ask(post('é 🌱', 'text/plain'), 200, '{"body":"é 🌱"}'),
      ask(post('abcd', 'text/plain; charset="utf-8"'), 400, /body must NOT have more than 3/),
      ask(post(Buffer.from([0xff]), 'text/plain'), 400, /UTF-8/),
    ],
  },
  'a body of `application/octet-stream` or another type of bytes, as they arrive': {
    yaml: body(
      'application/octet-stream: { schema: { type: string, format: binary }, x-body-limit: 4 }\nimage/png: { x-body-limit: 4 }',
    ),
    run: bytesOf,
    asks: [
      ask(
        post(Buffer.from([0xff, 0, 1]), 'application/octet-stream'),
        200,
        '{"bytes":"ÿ\\u0000\\u0001"}',
      ),
      ask(post(Buffer.from('abcd'), 'image/png'), 200, '{"bytes":"abcd"}'),
      ask(post(Buffer.from('abcde'), 'image/png'), 413, /too long/),
      ask(NONE, 200, '{"bytes":""}'),
    ],
  },
  'a range of media types as bytes: `image/*`, `*/*`; the method gets the type': {
    yaml: body(
      'image/*: { schema: { type: string, format: binary, maxLength: 4 } }\nimage/svg+xml;x=1: {}\n"*/*": {}\napplication/json: {}',
    ),
    run: async (request) => ({
      status: 200,
      body: { ...(await bytesOf(request)).body, type: request.type },
    }),
    asks: [
      ask(post('abcd', 'Image/PNG; q=1'), 200, '{"bytes":"abcd","type":"image/png"}'),
      ...[post('abcde', 'image/png'), chunked(post('abcde', 'image/png'))].map(isTooLong),
      ask(post('abcde', 'video/mp4'), 200, '{"bytes":"abcde","type":"video/mp4"}'),
      ...[post('x', 'image'), post('x', '*/*')].map((request) => ask(request, 415)),
      ask(post('[', 'application/json'), 400),
    ],
  },
  'several media types, of which one is not served: it is left out': {
    yaml: body(
      'application/xml: {}\ntext/plain: { schema: { type: object } }\ntext/json: { schema: { type: object } }',
    ),
    asks: [
      ask(post('{}', 'text/json'), 200, '{"body":{}}'),
      ask(post('a', 'application/xml'), 415, /must be text\/json/),
    ],
  },
  'a media type with parameters: without them': {
    yaml: body('"application/json; charset=utf-8": { x-body-limit: 9 }\n"text/plain;v=2": {}'),
    asks: [
      ask(post('7'), 200, '{"body":7}'),
      ask(post('7', 'application/json;charset=utf-8'), 200, '{"body":7}'),
      ask(post('7', 'text/plain'), 200, '{"body":"7"}'),
      ask(post('7', 'text/html'), 415),
    ],
  },
  'one media type with and without parameters: the latter': {
    yaml: body(
      '"application/json;v=2": { schema: { type: string } }\napplication/json: { schema: { type: integer } }',
    ),
    asks: [ask(post('7'), 200, '{"body":7}'), ask(post('"a"'), 400)],
  },
  'one media type in two spellings': body(
    'application/json: { x-body-limit: 9 }\nApplication/JSON: { x-body-limit: 9 } # here',
  ),
  'a body of bytes whose schema is an object or a list: the method gets the bytes': {
    yaml: body('application/octet-stream: { schema: { type: object, required: [a] } }'),
    run: bytesOf,
    asks: [ask(post('{}', 'application/octet-stream'), 200, '{"bytes":"{}"}')],
  },
  'a schema of bytes that says more than `type: string, format: binary, maxLength`': body(
    'image/png:\n  x-body-limit: 9\n  schema: { type: string, pattern: a } # here',
  ),
  'a body of `application/x-www-form-urlencoded`; an object in it is JSON': {
    yaml: body(`application/x-www-form-urlencoded:
  x-body-limit: 200
  schema:
    type: object
    required: [id]
    properties:
      id: { type: integer, format: int64 }
      n: { type: number, default: 1.5 }
      on: { type: [boolean, 'null'] }
      tags: { type: array, items: { type: string, maxLength: 3 } }
      more: { type: object, properties: { n: { type: integer, format: int64 } } }
      size: { anyOf: [{ type: integer }, { type: string }] }
      sizes: { type: array, items: { anyOf: [{ type: integer, maximum: 5 }, { type: object }, { type: string }] } }
    oneOf: [{ properties: { kind: { const: a } } }, { required: [kind, age], properties: { kind: { const: b }, age: { type: integer } } }]
    unevaluatedProperties: false`),
    asks: [
      ...accepted(
        urlencoded,
        `id=9007199254740993=>{"id":9007199254740993,"n":1.5} &id=7&&n=-1e2&on=true&=>{"id":7,"n":-100,"on":true}
        id=7&tags=a&tags=%C3%A9%2B%3D=>{"id":7,"tags":["a","é+="],"n":1.5} id=7&tags=a=>{"id":7,"tags":["a"],"n":1.5}
        id=7&more={"n":9007199254740993}=>{"id":7,"more":{"n":9007199254740993},"n":1.5}
        id=7&size=1&n=1=>{"id":7,"size":1,"n":1} id=7&sizes=5&sizes=6&sizes={}&n=1=>{"id":7,"sizes":[5,"6",{}],"n":1}
         id=7&kind=b&age=7&n=1=>{"id":7,"kind":"b","age":7,"n":1}`,
      ),
      ask(urlencoded('id=7&n=1&tags=+%C3%A9'), 200, '{"body":{"id":7,"n":1,"tags":[" é"]}}'),
      ...refused(urlencoded, 'id=7&n=-1e2&on=true&kind=a+b%2B%26 id=7.0 id=7\0', /body/),
      ...refused(urlencoded, 'id=07 id', /body\/id must be an integer/),
      ...refused(urlencoded, 'id=7&id=7', /body\/id must not be repeated/),
      ...refused(urlencoded, 'id=7&more={"n":1,"n":1}', /body\/more must be object/),
      ...refused(
        urlencoded,
        'id=7&other=7 id=7&__proto__=7 id=7&constructor=7',
        /must not have the property \w+/,
      ),
      ...refused(urlencoded, 'id=% id=7&%FF=1', /UTF-8 in percent-encoding/),
      ask(urlencoded('&'), 400, /required property 'id'/),
      ask(
        post(Buffer.from('id=\xff', 'latin1'), 'application/x-www-form-urlencoded'),
        400,
        /UTF-8/,
      ),
      ask(urlencoded(`id=7&tags=${'x'.repeat(200)}`), 413),
    ],
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
      ask(form('id\r\n\r\n9007199254740993'), 200, '{"id":9007199254740993}'),
      ask(
        form(ID, `photo; filename=a.png${PNG_TYPE}PNG`),
        200,
        '{"id":7,"photo":"a.png image/png PNG"}',
      ),
      ask(form(ID, 'tags\r\n\r\na', 'tags\r\n\r\nb'), 200, '{"id":7,"tags":["a","b"]}'),
      ask(
        form(ID, `more${JSON_TYPE}{"n":9007199254740993}`),
        200,
        '{"id":7,"more":{"n":9007199254740993}}',
      ),
      ask(form(ID, `more; filename=blob${JSON_TYPE}{"n":7}`), 200, '{"id":7,"more":{"n":7}}'),
      ...[
        'application/json; charset=utf-8',
        'application/json;charset="UTF-8"; v=1',
        'Application/JSON ; charset=utf-8',
        'application/problem+json; charset=utf-8',
        'text/json',
      ].flatMap((type) =>
        ['', '; filename=blob', '; filename=""'].map((file) =>
          ask(
            form(ID, `more${file}\r\ncontent-type: ${type}\r\n\r\n{"n":7}`),
            200,
            '{"id":7,"more":{"n":7}}',
          ),
        ),
      ),
      ask(
        form(ID, 'more; filename=a\r\nContent-Type: application/json; charset=latin1\r\n\r\n{}'),
        400,
        /body\/more must be object/,
      ),
      ask(form('id\r\n\r\nx'), 400, /body\/id must be an integer/),
      ask(form(ID, 'id\r\n\r\n7'), 400, /body\/id must not be repeated/),
      ask(form(ID, 'photo\r\n\r\nPNG'), 400, /body\/photo must be a file/),
      ask(form(ID, 'other\r\n\r\n7'), 400, /body must not have the property other/),
      ask(form(ID, `photo; filename=a\r\n\r\n${'x'.repeat(200)}`), 413),
      ask(form(ID, 'tags\r\n\r\né', 'tags\r\n\r\n\ufffd'), 200, '{"id":7,"tags":["é","\ufffd"]}'),
      ...['\xff', '\xc3', '\xe9 ', '\xed\xa0\x80'].map((value) => isNoText(`tags\r\n\r\n${value}`)),
      isNoText('tags\r\n\r\n\xff', `tags\r\n\r\n${REPLACED}`),
      isNoText('"\xff"\r\n\r\nx'),
      isNoText('"\xff"; filename=a\r\n\r\nx'),
      isNoText('photo; filename="\xff"\r\n\r\nx'),
      isNoText(ID, `more; filename=blob${JSON_TYPE}"\xff"`),
      // A genuine U+FFFD elsewhere does not hide an invalid byte.
      isNoText('tags\r\n\r\n\xff', `photo; filename=a\r\n\r\n${REPLACED}`),
      isNoText(`photo; filename=a\r\n\r\n${REPLACED}`, 'tags\r\n\r\n\xff'),
      isNoText(`tags\r\nX: ${REPLACED}\r\n\r\n\xff`),
      ...['', REPLACED].map((preamble) =>
        ask(wrapped(preamble, 'tags\r\n\r\n\xff', REPLACED), 400, /must be text in UTF-8/),
      ),
      // Short enough in characters, too long in bytes.
      ask(chunked(form(`tags\r\n\r\n${'é'.repeat(190)}`)), 413),
      ...['', '; boundary=b'].map((boundary) =>
        ask(post('x', `multipart/form-data${boundary}`), 400),
      ),
    ],
  },
  'a form of up to 1,000 names and parts; more: 413': {
    yaml: body(
      `${FORM_TYPE}: { schema: { type: object } }\nmultipart/form-data: { schema: { type: object } }`,
    ),
    run: async ({ body }) => ({ status: 200, body: Object.keys(Object(body)).length }),
    asks: [
      ask(urlencoded(names(1000, '&')), 200, '1000'),
      ask(urlencoded(`&&${names(1000, '=&&')}&`), 200, '1000'),
      ask(urlencoded(names(1001, '&')), 413, /more than 1000 names and parts/),
      ask(urlencoded('a=1&'.repeat(1001)), 413),
      ask(
        form(
          ...names(1000, ' ')
            .split(' ')
            .map((name) => `${name}\r\n\r\n`),
        ),
        200,
        '1000',
      ),
      ask(
        form(
          ...names(1001, ' ')
            .split(' ')
            .map((name) => `${name}\r\n\r\n`),
        ),
        413,
      ),
      ask(form(...Array.from({ length: 1001 }, () => 'a; filename=b\r\n\r\n')), 413),
    ],
  },
  'JSON nested up to 100 levels deep; more: 400': {
    yaml: body(
      `application/json: { x-body-limit: 500000 }\n${FORM_TYPE}: ${ANY_FORM}\nmultipart/form-data: ${ANY_FORM}`,
    ),
    run: async () => ({ status: 200, body: 7 }),
    asks: [
      ...[post, urlencodedField, multipartField, jsonFile].flatMap((send) =>
        ['{"a":', '{"a":[1,'].map((open) => ask(send(nested(open, 100)), 200)),
      ),
      ...[post, urlencodedField, multipartField, jsonFile].flatMap((send) =>
        [101, 200, 5000].flatMap((levels) =>
          ['{"a":', '{"a":[1,', '{"a":9007199254740993,"b":'].map((open) =>
            ask(send(nested(open, levels)), 400, /nested more than 100 levels deep/),
          ),
        ),
      ),
      ...[100, 101].map((levels) => ask(post(nested('[', levels)), levels > 100 ? 400 : 200)),
      ask(post(`[${'[],'.repeat(5000)}[]]`), 200),
      ask(post(`"${'['.repeat(200)}"`), 200),
    ],
  },
  'a file of a form: `format: binary`, `contentMediaType` or `contentEncoding: binary`, its length in bytes, and alternatives of it':
    {
      yaml: body(`multipart/form-data:
  schema:
    type: object
    properties:
      a: { type: string, contentMediaType: image/png, minLength: 2, maxLength: 3 }
      b: { anyOf: [{ type: string, format: binary, writeOnly: true }, { type: array, items: { type: string, format: binary } }] }
      c: { type: string, contentEncoding: binary }
      d: { type: string, contentEncoding: base64 }`),
      run: filesOf,
      asks: [
        ask(form('a; filename=f\r\n\r\nPNG'), 200, '{"a":"f text/plain PNG"}'),
        ask(form('a; filename=f\r\n\r\né√'), 400, /body\/a must NOT have more than 3 bytes/),
        ask(form('a; filename=f\r\n\r\nP'), 400),
        ask(form(`b; filename=f${JSON_TYPE}{}`), 200, '{"b":"f application/json {}"}'),
        ask(form('b; filename=f\r\n\r\n1', 'b; filename=f\r\n\r\n2'), 200, '{"b":[{},{}]}'),
        ask(form('c; filename=f\r\n\r\nPNG'), 200, '{"c":"f text/plain PNG"}'),
        ask(form('d\r\n\r\nUE5H'), 200, '{"d":"UE5H"}'),
      ],
    },
  'a file of a form with more rules than its length: they are not checked': {
    yaml: body(
      'multipart/form-data:\n  schema:\n    type: object\n    properties: { a: { type: string, pattern: a, maxLength: 3, format: binary } }',
    ),
    run: filesOf,
    asks: [
      ask(form(`a; filename=x${PNG_TYPE}b`), 200, '{"a":"x image/png b"}'),
      ask(form(`a; filename=x${PNG_TYPE}long`), 400, /bytes/),
    ],
  },
  '`uniqueItems` of the files of a form': body(
    'multipart/form-data:\n  schema:\n    type: object\n    properties:\n      a:\n        type: array\n        items: { type: string, format: binary }\n        uniqueItems: true # here',
  ),
  '`encoding` of a form with defaults only, or with `explode` of a string or a file': {
    yaml: body(
      `multipart/form-data:
  x-body-limit: 999
  schema:
    type: object
    properties:
      id: { type: integer }
      of: { type: object }
      tags: { type: array, items: { type: string } }
      file: { type: string, format: binary }
  encoding:
    id: { contentType: text/plain, explode: false }
    of: { contentType: application/json }
    tags: { style: form, explode: true }
    file: { contentType: application/octet-stream, headers: {} }`,
    ),
    asks: [
      ask(
        post(
          '--x\r\nContent-Disposition: form-data; name=id\r\n\r\n7\r\n--x--\r\n',
          'multipart/form-data; boundary=x',
        ),
        200,
        '{"body":{"id":7}}',
      ),
    ],
  },
  'a `default` of a whole body': {
    yaml: `      requestBody: { content: { application/json: { schema: { type: object, default: { a: 7 }, properties: { a: { type: integer } } } } } }
      responses: { '200': { description: Done, content: { application/json: {} } } }`,
    asks: [ask(post({}), 200, '{"body":{}}'), ask({ method: 'POST', url: '/x' }, 200, '{}')],
  },
  'a form whose schema has `properties` and no `type`': {
    yaml: body(
      'multipart/form-data: { schema: { properties: { id: { type: integer } }, required: [id] } }',
    ),
    asks: [ask(form('id\r\n\r\n7'), 200, '{"body":{"id":7}}'), ask(form('id\r\n\r\na'), 400)],
  },
  'a form without fields in its schema, or without a schema: each field and each file is taken': {
    yaml: body(`multipart/form-data: { schema: { type: string, format: binary } }
application/x-www-form-urlencoded: {}`),
    run: async ({ body }) => ({
      status: 200,
      body: JSON.parse(
        JSON.stringify(body, (_, value: unknown) => (value instanceof File ? value.name : value)),
      ) as unknown,
    }),
    asks: [
      ask(urlencoded('a=1&a=2'), 200, '{"a":["1","2"]}'),
      ask(form('a\r\n\r\n1'), 200, '{"a":["1"]}'),
      ask(form(`a; filename=a.png${PNG_TYPE}PNG`), 200, '{"a":["a.png"]}'),
    ],
  },
  'a body of `*/*` with a schema that is not bytes: JSON': {
    yaml: body("'*/*': { schema: { type: object, properties: { a: { type: integer } } } }"),
    asks: [
      ask(post({ a: 1 }), 200, '{"body":{"a":1}}'),
      ask(post({ a: 'x' }), 400),
      ask(post('a', 'text/plain'), 415),
    ],
  },
  '`encoding` of a form that names the media types of files': {
    yaml: body(
      `multipart/form-data:
  x-body-limit: 999
  schema: { type: object, properties: { id: { type: integer }, file: { type: string, format: binary } } }
  encoding: { id: { explode: false }, file: { contentType: 'image/png, image/jpeg', explode: false } }`,
    ),
    run: async ({ body }) => ({ status: 200, body: (fields(body)['file'] as File).type }),
    asks: [ask(form('id\r\n\r\n7', `file; filename=a.png${PNG_TYPE}PNG`), 200, '"image/png"')],
  },
  '`encoding` of a form with more': body(
    'multipart/form-data:\n  x-body-limit: 9\n  schema: { type: object }\n  encoding: { a: { contentType: image/png } } # here',
  ),
  'a key of `content` that is no media type, as `application/json:`': body(
    '"application/json:": { schema: { type: object } } # here',
  ),
  'XML or YAML whose schema is a string, or that has no schema: the method gets the string': {
    yaml: body(`application/xml: { schema: { type: string } }\napplication/x-yaml: {}`),
    asks: [
      ask(post('<a>\u00e9</a>', 'application/xml'), 200, '{"body":"<a>\u00e9</a>"}'),
      ask(post('a: 1', 'application/x-yaml; charset=utf-8'), 200, '{"body":"a: 1"}'),
      ask(post('{}', 'application/json'), 415),
    ],
  },
  'other XML and YAML, streams of events, `multipart/mixed`, other media types with `*`, another charset than UTF-8':
    body('application/xml: { schema: { type: object } } # here'),
  'a body without `x-body-limit`: up to 100 KiB, of bytes and forms in parts up to 1 MiB; more: 413':
    {
      yaml: body(`application/json: {}
application/vnd.x+json: {}
text/plain: {}
application/x-www-form-urlencoded: { schema: { type: object } }
multipart/form-data: { schema: { type: object } }
image/*: {}`),
      run: async ({ body }) => {
        if (Symbol.asyncIterator in Object(body))
          await Array.fromAsync(body as AsyncIterable<Buffer>)
        return { status: 200, body: 7 }
      },
      asks: [
        ...['application/json', 'application/vnd.x+json', 'text/plain', FORM_TYPE].flatMap((type) =>
          upTo(100 * 2 ** 10, (length) => post('7'.repeat(16).padEnd(length), type)),
        ),
        ...upTo(2 ** 20, (length) => post('7'.repeat(length), 'image/png')),
        ...upTo(2 ** 20, (length) => form(`a\r\n\r\n${'7'.repeat(length - FORM_LENGTH)}`)),
      ],
    },
  '`x-body-limit` of a media type or of the document: the most bytes of a body; more: 413': {
    yaml: body('application/json: { x-body-limit: 30000 }\nimage/png: { x-body-limit: 50000 }'),
    asks: [ask(textOf(30_000), 200), ...[textOf(30_001), chunked(textOf(30_001))].map(isTooLong)],
  },
}
