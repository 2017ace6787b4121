// Contracts for the lines of SERVED.md about responses and security, with requests and their expected answers.
import { Readable } from 'node:stream'
import type { InjectOptions } from 'fastify'
import type { ProductHooks } from '@plant-store/engine/for-compiler'
import { HttpError, JsonText } from '@plant-store/engine/for-store'
import { fields } from '../../../../test/support/inner/json.ts'
import { accepted, ask, json, post } from '../../../../test/support/contracts/exchanges.ts'
import { tokenOf } from '../../../../test/support/contracts/scoped-tokens.ts'
import {
  type Constructs,
  type Run,
  type Served,
} from '../../../../test/support/contracts/serve-contract.ts'

const responses = (lines: string) => `      responses:\n${lines.replaceAll(/^/gm, '        ')}`
const ok = (content: string) => responses(`'200': { description: Done, content: ${content} }`)
const USER = `{ type: object, required: [id, name, password], properties: { id: { type: integer, format: int64, readOnly: true }, name: { type: string }, password: { $ref: '#/components/schemas/Secret' } }, additionalProperties: false }`
const CREATED = ask(post({ name: 'a', password: 'b' }), 200, '{"name":"a","id":7}')
const USERS: Served = {
  run: async ({ body }) => ({ status: 200, body: { ...(body as object), id: 7n } }),
  yaml: `paths:
  /x: { post: { operationId: run, requestBody: { content: { application/json: { x-body-limit: 99, schema: { $ref: '#/components/schemas/User' } } } }, responses: { '200': { description: Done, content: { application/json: { schema: { $ref: '#/components/schemas/User' } } } } } } }
components: { schemas: { User: ${USER}, Secret: { type: string, writeOnly: true } } }\n`,
}
/** Media types only a method can write. */
const UNCHECKED = {
  xml: 'application/xml: { schema: { type: object, properties: { a: {} } } }',
  lines: 'application/x-ndjson: { schema: { type: object } }',
  csv: 'text/csv: { schema: { type: array, items: { type: object } } }',
  zip: 'application/zip: { schema: { type: object } }',
  both: 'application/json: {}, application/xml: { schema: { type: object } }',
}
const WRITTEN: Readonly<Record<string, unknown>> = {
  xml: '<a/>',
  lines: Readable.from(['{}\n', '{}\n']),
  csv: 'a,b',
  zip: Buffer.from('PK'),
  both: { a: 1 },
}
const asked = (query: unknown) => Object.keys(query ?? {})[0] ?? ''
const sending = (headers: Readonly<Record<string, string>>) => ({ url: '/x', headers })
const as = (authorization: string) => sending({ authorization })
const bearer =
  'components: { securitySchemes: { b: { type: http, scheme: bearer }, o: { type: oauth2, flows: { password: { tokenUrl: /token } } }, k: { type: apiKey, in: header, name: X-Key }, q: { type: apiKey, in: query, name: key }, c: { type: apiKey, in: cookie, name: sid }, basic: { type: http, scheme: basic }, m: { type: mutualTLS } } }'
const both = (token: string, key: string) =>
  sending({ authorization: `Bearer ${token}`, 'x-key': key })
const isAlice = (request: InjectOptions | string) => ask(request, 200, '{"caller":"alice"}')
const isRefused = (request: InjectOptions | string) => ask(request, 401)
const secured = (security: string) =>
  `${ok('{ application/json: {} }')}\n      security: ${security}\n${bearer}`

/** The product's guards: the user name is the caller, and the password must be "open". */
const product: ProductHooks = {
  guards: {
    basic: async (_, credentials) => {
      const [caller = '', password] = Buffer.from(credentials, 'base64').toString().split(':')
      if (password === 'broken') throw new Error(`cannot look up ${credentials}`)
      return password === 'open' ? { caller, scopes: [] } : undefined
    },
    m: ({ headers }) =>
      headers['client-cert'] === undefined ? undefined : { caller: 'alice', scopes: ['read'] },
  },
  errorBody: (status, message) => ({ errors: [{ code: `E${status}`, message }] }),
}
const ALICE = tokenOf('alice')
const basic = (text: string) => as(`basic ${Buffer.from(text).toString('base64')}`)
/** The message of an error, with characters special in HTML and JSON. */
const REASON = `<a b='c'>"&"`
const QUOTED = JSON.stringify(REASON)
const problem = (status: number, title: string) =>
  `{"type":"about:blank","title":"${title}","status":${status},"detail":${QUOTED}}`
/** Throws an error with the requested status. */
const throwAsked: Run = async ({ query }) => {
  throw new HttpError(Number(fields(query)['error']), REASON)
}
const OWN_FORM = `'200': { description: Done }
'400':
  description: Bad
  content:
    application/json:
      schema: { type: object, required: [errors], properties: { errors: { type: array, minItems: 1, items: { type: object, required: [code], properties: { code: { type: string, pattern: ^E400$ } } } } } } # here`

const OTHER_FORM = responses(OWN_FORM.replace('^E400$', '^F400$'))

/** Constructs of responses and of security, by their names in SERVED.md. */
export const RESPONSES: Constructs = {
  'a response of `application/json`, an int64 in it exactly; one refused by its schema, or nested more than 100 levels deep, becomes 500':
    {
      yaml: ok(
        '{ Application/Json: { schema: { type: object, properties: { id: { type: integer, format: int64 } }, additionalProperties: false } } }',
      ),
      run: async () => ({ status: 200, body: { id: 2n ** 63n - 1n } }),
      asks: [ask('/x', 200, '{"id":9223372036854775807}', 'Application/Json')],
    },
  'a status, a range (`4XX`), or `default` where no other is a success': {
    yaml: responses(
      `'200': { description: Done }\n4XX: { description: Not, content: { application/json: { schema: { type: object } } } }`,
    ),
    run: async () => ({ status: 418, body: { not: 1 } }),
    asks: [ask('/x', 418, '{"not":1}')],
  },
  'a response without a `description`': {
    yaml: responses("'200': { content: { application/json: {} } }"),
    asks: [ask('/x', 200, '{}')],
  },
  'a range of statuses in small letters: `4xx`': {
    yaml: responses(
      `2xx: { description: Done }\n4xX: { description: Not, content: { text/plain: { schema: { type: string } } } }`,
    ),
    run: async () => ({ status: 404, body: 'no' }),
    asks: [ask('/x', 404, 'no', 'text/plain; charset=utf-8')],
  },
  'a status of 1XX: it is left out': {
    yaml: responses(`'101': { description: Other }\n'204': { description: Done }`),
    run: async () => ({ status: 204 }),
    asks: [ask('/x', 204, '')],
  },
  'a status that is none of HTTP': responses(
    `'200': { description: Done }\n'600': { description: Other } # here`,
  ),
  '`content` of 204, 205 and 304': {
    yaml: responses(`'204':\n  description: Done\n  content: { application/json: {} }`),
    run: async () => ({ status: 204 }),
    asks: [ask('/x', 204, '')],
  },
  'built-in errors as `{ error, message }`, RFC 9457, `{ code, message }` or `{ message }`: the first that the schema accepts':
    {
      yaml: `      parameters: [{ name: error, in: query, schema: { type: integer } }]
      responses:
        '200': { description: Done }
        '400': { description: Bad, content: { application/problem+json: { schema: { type: object, required: [type, title, status], properties: { type: { type: string, format: uri }, title: { enum: [Bad Request] }, status: { const: 400 }, detail: { type: string } } } } } }
        '401': { description: Open, content: { application/problem+json: { schema: { type: object } } } }
        '403': { description: Open, content: { application/json: { schema: { type: object, properties: { code: { type: integer } } } } } }
        '408': { description: Late, content: { application/json: { schema: { type: object, required: [type, status], properties: { status: { type: integer } } } } } }
        '413': { description: Large, content: { application/json: { schema: { oneOf: [{ required: [code] }, { required: [status], properties: { status: { enum: [400] } } }] } } } }
        '415': { description: Only words, content: { application/json: { schema: { type: object, properties: { message: { type: string } }, additionalProperties: false } } } }
        '417': { description: Often, content: { application/json: { schema: { type: object, required: [error, message], properties: { error: { type: integer }, message: { type: string } } } } } }
        '431': { description: Any, content: { application/json: {} } }
        default: { description: Other, content: { application/json: { schema: { type: object, required: [code], properties: { code: { type: integer, minimum: 500 }, message: { type: string } } } } } }`,
      run: throwAsked,
      asks: [
        ask(
          '/x?error=x',
          400,
          /^{"type":"about:blank","title":"Bad Request","status":400,"detail":"query\/error/,
          'application/problem+json',
        ),
        ask('/x?error=401', 401, problem(401, 'Unauthorized'), 'application/problem+json'),
        ask('/x?error=403', 403, `{"error":403,"message":${QUOTED}}`),
        ask('/x?error=408', 408, problem(408, 'Request Timeout')),
        ask('/x?error=413', 413, `{"code":413,"message":${QUOTED}}`),
        ask('/x?error=415', 415, `{"message":${QUOTED}}`),
        ask('/x?error=417', 417, `{"error":417,"message":${QUOTED}}`),
        ask('/x?error=431', 431, `{"error":431,"message":${QUOTED}}`),
        ask('/x?error=503', 503, `{"code":503,"message":${QUOTED}}`),
      ],
    },
  'built-in errors without `content`: as the first of the operation that has one, or as `errorBody` writes them, or as most errors of the contract are':
    {
      yaml: `paths:
  /x: { get: { operationId: run, parameters: [{ name: a, in: query, schema: { type: integer } }], responses: { '204': { description: Done }, '400': { description: Bad }, default: { description: Not, content: { application/problem+json: {} } } } } }
  /y: { get: { operationId: y, parameters: [{ name: a, in: query, schema: { type: integer } }], responses: { '204': { description: Done }, 4XX: { description: Bad } } } }
`,
      product: {
        errorBody: (status, message, { path, operationId }) => ({
          status,
          message,
          path,
          operationId,
        }),
      },
      run: async () => ({ status: 204 }),
      asks: [
        ask('/x?a=b', 400, /^{"type":"about:blank".*"query\/a must be an integer/),
        ask(
          '/y?a=b',
          400,
          /^{"status":400,"message":"query\/a must be an integer.*","path":"\/y","operationId":"y"}$/,
        ),
      ],
    },
  'built-in errors as text': {
    yaml: `      parameters: [{ name: error, in: query, schema: { type: integer } }]\n${responses(`'200': { description: Done }
'501': { description: Not, content: { text/plain: { schema: { type: string } } } }
'505': { description: Old, content: { text/html: { schema: { type: string } } } }`)}`,
    run: throwAsked,
    asks: [
      ask('/x?error=501', 501, REASON, 'text/plain; charset=utf-8'),
      ask(
        '/x?error=505',
        505,
        '&#60;a b=&#39;c&#39;&#62;&#34;&#38;&#34;',
        'text/html; charset=utf-8',
      ),
    ],
  },
  'a form of errors that the schema accepts, beside `errorBody`: the product does not write it': {
    yaml: responses(`'200': { description: Done }
'501': { description: Not, content: { application/json: { schema: { type: object } } } }`),
    product,
    run: async () => {
      throw new HttpError(501, REASON)
    },
    asks: [ask('/x', 501, `{"error":501,"message":${QUOTED}}`)],
  },
  'built-in errors in another form, which `errorBody` of the product writes': {
    yaml: `      parameters: [{ name: a, in: query, schema: { type: integer } }]\n${responses(OWN_FORM)}`,
    product,
    asks: [
      ask('/x?a=b', 400, /^{"errors":\[{"code":"E400","message":"query\/a must be an integer/),
    ],
  },
  '400, 401, 413 and 415, where the service answers them and the contract has neither them nor `default`':
    {
      yaml: `paths:\n${['/x', '/y'].map((path) => `  ${path}: { post: { operationId: run${path.slice(1)}, requestBody: { content: { application/json: {} } }, responses: { '204': { description: Done } } } }\n`).join('')}`,
      run: async () => ({ status: 204 }),
      asks: [ask(post('a', 'text/plain'), 415), ask(post({}), 204)],
    },
  'built-in errors as `*/*`: JSON': {
    yaml: `      parameters: [{ name: error, in: query, schema: { type: integer } }]\n${responses(`'200': { description: Done }
'500': { description: Broken, content: { '*/*': { schema: { type: object, required: [code, message] } } } }`)}`,
    run: throwAsked,
    asks: [ask('/x?error=500', 500, `{"code":500,"message":${QUOTED}}`, 'application/json')],
  },
  'built-in errors in another media type, as bytes or CSV: `{ error, message }`': {
    yaml: `      parameters: [{ name: error, in: query, schema: { type: integer } }]\n${responses(`'200': { description: Done }
'500': { description: Broken, content: { text/csv: { schema: { type: string } } } }
default: { description: Broken, content: { application/octet-stream: { schema: { type: string, format: binary } } } }`)}`,
    run: throwAsked,
    asks: [500, 503].map((status) =>
      ask(
        `/x?error=${status}`,
        status,
        `{"error":${status},"message":${QUOTED}}`,
        'application/json',
      ),
    ),
  },
  'built-in errors in other forms, by operation or by status, which one `errorBody` of the product writes':
    {
      yaml: `paths:
  /x: { get: { operationId: run, parameters: [{ name: error, in: query, schema: { type: integer } }], responses: { '204': { description: Done }, '501': { $ref: '#/components/responses/Coded' }, default: { $ref: '#/components/responses/Listed' } } } }
  /y: { get: { operationId: y, parameters: [{ name: error, in: query, schema: { type: integer } }], responses: { '204': { description: Done }, default: { $ref: '#/components/responses/Coded' } } } }
components:
  responses:
    Coded: { description: Failed, content: { application/json: { schema: { type: object, required: [code, text], properties: { code: { type: string }, text: { type: string } }, additionalProperties: false } } } }
    Listed: { description: Failed, content: { application/json: { schema: { type: object, required: [errors], properties: { errors: { type: array, items: { type: string } } }, additionalProperties: false } } } }
`,
      product: {
        errorBody: (status, message, { operationId }) => {
          if (operationId === 'run' && status !== 501) return { errors: [message] }
          return { code: `E${status}`, text: message }
        },
      },
      run: throwAsked,
      asks: [
        ask('/x?error=501', 501, `{"code":"E501","text":${QUOTED}}`),
        ask('/x?error=500', 500, `{"errors":[${QUOTED}]}`),
        ask('/y?error=500', 500, `{"code":"E500","text":${QUOTED}}`),
        ask('/y?error=x', 400, /^{"code":"E400","text":"query\/error must be an integer/),
      ],
    },
  'built-in errors in another form, without `errorBody`: as a template that is made of their schema':
    {
      yaml: `      parameters: [{ name: a, in: query, schema: { type: integer } }]\n${responses(OWN_FORM.replace('^E400$', '^E'))}`,
      asks: [
        ask('/x?a=b', 400, /^{"errors":\[{"code":"E400"}\],"message":"query\/a must be an int/),
      ],
    },
  'built-in errors without a possible body, without `errorBody`': responses(
    OWN_FORM.replace('^E400$', '^(?!E)F$').replace('code: { ', 'code: { maxLength: 0, '),
  ),
  'built-in errors of which `errorBody` writes no property': {
    yaml: responses(
      OWN_FORM.replace(
        /schema: .* # here$/,
        'schema: { properties: { code: { type: string }, reason: { type: array } }, propertyNames: { enum: [errors, code, reason] } } # here',
      ),
    ),
    product,
  },
  'built-in errors refused by their schema, as `errorBody` writes them': {
    yaml: OTHER_FORM,
    product,
  },
  'built-in errors with a bound of the message that `errorBody` does not keep': {
    yaml: responses(
      OWN_FORM.replace(
        /schema: .* # here$/,
        'schema: { type: object, required: [errors], properties: { errors: { items: { required: [message], properties: { message: { maxLength: 200 } } } } } } # here',
      ),
    ),
    product,
  },
  'several media types of a response: the method says which': {
    yaml: ok('{ application/json: {}, text/csv: { schema: { type: string } } }'),
    run: async ({ query }) => ({ status: 200, type: 'text/csv', body: `a;${asked(query)}` }),
    asks: [ask('/x', 200, 'a;', 'text/csv; charset=utf-8')],
  },
  'a response of `text/plain` or another `text/` type': {
    yaml: ok('{ text/plain: { schema: { type: string } } }'),
    run: async () => ({ status: 200, body: 'é' }),
    asks: [ask('/x', 200, 'é', 'text/plain; charset=utf-8')],
  },
  'a response of `application/octet-stream` or another type of bytes, whole or in pieces': {
    yaml: ok('{ image/png: { schema: { type: string, format: binary } } }'),
    run: async () => ({ status: 200, body: Readable.from([Buffer.from('a'), Buffer.from('b')]) }),
    asks: [ask('/x', 200, 'ab', 'image/png')],
  },
  'a JSON array in batches': {
    yaml: ok('{ application/json: { schema: { type: array } } }'),
    run: async () => ({
      status: 200,
      body: Readable.from(['[1]', '[]', '[2,3]'].map((text) => new JsonText(text))),
    }),
    asks: [ask('/x', 200, '[1,2,3]')],
  },
  'a range of media types of a response: the method says which; `*/*` with a schema that is not bytes is JSON':
    {
      yaml: `      parameters: [{ name: a, in: query, schema: { type: string } }]
      responses:
        '200': { description: Done, content: { 'image/*': { schema: { type: string, format: binary } } } }
        '201': { description: Done, content: { '*/*': { schema: { type: object } } } }`,
      run: async ({ query }) => {
        if (asked(query) === '') return { status: 201, body: { n: 1n } }
        return { status: 200, type: 'image/png', body: Buffer.from('PNG') }
      },
      asks: [ask('/x?a=1', 200, 'PNG', 'image/png'), ask('/x', 201, '{"n":1}')],
    },
  'a response of `text/event-stream`: server-sent events, whose schema is that of the `data` of an event, which is JSON':
    {
      yaml: ok(
        '{ text/event-stream: { schema: { type: object, properties: { n: { type: integer, format: int64 } } } } }',
      ),
      run: async () => ({
        status: 200,
        body: Readable.from([{ id: '7', event: 'a', data: { n: 1n } }, { data: {} }]),
      }),
      asks: [ask('/x', 200, 'id: 7\nevent: a\ndata: {"n":1}\n\ndata: {}\n\n', 'text/event-stream')],
    },
  'a response of `text/event-stream` with a schema of strings, or without one: each `data` is a string':
    {
      yaml: ok('{ text/event-stream: {} }'),
      run: async () => ({ status: 200, body: Readable.from([{ data: 'a\nb' }]) }),
      asks: [ask('/x', 200, 'data: a\ndata: b\n\n')],
    },
  'XML, YAML, lines of JSON, and text and bytes with a schema of anything else, where no other media type is served: the method writes them':
    {
      yaml: `paths:\n${Object.entries(UNCHECKED)
        .map(
          ([path, content]) =>
            `  /${path}: { get: { operationId: ${path}, responses: { '200': { description: Done, content: { ${content} } } } } }\n`,
        )
        .join('')}`,
      run: async (_, name) => ({ status: 200, body: WRITTEN[name] }),
      asks: [
        ask('/xml', 200, '<a/>', 'application/xml; charset=utf-8'),
        ask('/lines', 200, '{}\n{}\n', 'application/x-ndjson'),
        ask('/csv', 200, 'a,b', 'text/csv; charset=utf-8'),
        ask('/zip', 200, 'PK', 'application/zip'),
        ask('/both', 200, '{"a":1}'),
      ],
    },
  'forms as responses': responses(
    `'200':\n  description: Done\n  content:\n    multipart/form-data: { schema: { type: object } } # here`,
  ),
  '`name` and `in` of a header of a response': {
    yaml: responses(
      `'204': { description: Done, headers: { X-Count: { name: X-Count, in: header, schema: { type: integer } } } }`,
    ),
    run: async () => ({ status: 204, headers: { 'X-Count': 7 } }),
    asks: [ask('/x', 204, '')],
  },
  'headers of a response: a string, a number or a boolean': {
    yaml: responses(
      `'204': { description: Done, headers: { X-Count: { schema: { type: integer } } } }`,
    ),
    run: async () => ({ status: 204, headers: { 'X-Count': 7 } }),
    asks: [ask('/x', 204, '')],
  },
  'a header of a response without a `schema`: a string': {
    yaml: responses(`'204': { description: Done, headers: { X-A: { description: A text } } }`),
    run: async () => ({ status: 204, headers: { 'X-A': 'a' } }),
    asks: [ask('/x', 204, '')],
  },
  'headers of a response that are lists or objects, or have `content`': responses(
    `'204':\n  description: Done\n  headers:\n    X-All: { schema: { type: array } } # here`,
  ),
  '`readOnly`: sent in a request it is 400; it is required only of responses': {
    ...USERS,
    asks: [CREATED, ask(post({ id: 7, name: 'a', password: 'b' }), 400, /body\/id is read-only/)],
  },
  '`writeOnly`: taken out of responses; it is required only of requests': {
    ...USERS,
    asks: [CREATED, ask(post({ name: 'a' }), 400, /required property 'password'/)],
  },
  '`oneOf` with alternatives that require a property of the other side: where several match without it, one that lacks nothing counts':
    {
      yaml: `      requestBody: { required: true, content: { application/json: { schema: { type: object, oneOf: [{ required: [id], properties: { id: { readOnly: true } } }, { required: [a] }, { required: [b] }] } } } }`,
      asks: [
        ...accepted(json, '{"a":1} {"b":1} {}'),
        ask(post({ a: 1, b: 1 }), 400, /exactly one schema in oneOf/),
      ],
    },
  '`security` with `http` `bearer`, `oauth2`, `openIdConnect`: a bearer token; a flow without `scopes`, too':
    {
      yaml: secured('[{ o: [] }]'),
      asks: [
        isAlice(as(`Bearer ${ALICE}`)),
        ask('/x', 401, /token is needed/),
        ask(as('Bearer nobody'), 401, /not valid/),
      ],
    },
  '`security` with an `apiKey` in a header, a query or a cookie': {
    yaml: secured('[{ k: [] }, { q: [] }, { c: [] }]'),
    asks: [
      ...[
        `/x?key=${ALICE}`,
        sending({ cookie: `a=b; sid="${ALICE}"` }),
        sending({ 'x-key': ALICE }),
      ].map(isAlice),
      ...[
        `/x?key=${ALICE}&key=${ALICE}`,
        sending({ cookie: `sid=${ALICE}; sid=${tokenOf('bob')}` }),
        as(`Bearer ${ALICE}`),
      ].map(isRefused),
      ask(sending({ cookie: `side=${ALICE}` }), 401, /token is needed/),
    ],
  },
  'alternatives in `security`, several schemes at once, `{}` for nobody, `security: []`': {
    yaml: secured('[{ b: [], k: [] }, { k: [admin] }, {}]'),
    asks: [
      ask('/x', 200, '{}'),
      isAlice(sending({ authorization: `Bearer ${ALICE}`, 'x-key': ALICE })),
      ask(sending({ 'x-key': tokenOf('bob', 'admin') }), 200, '{"caller":"bob"}'),
      ask(sending({ 'x-key': tokenOf('bob') }), 403, /needs the scope admin/),
      ...[as('Bearer x'), sending({ 'x-key': 'x' })].map(isRefused),
    ],
  },
  'scopes in `security`: 403 with `insufficient_scope` for who lacks one': {
    yaml: secured('[{ o: [read, write], k: [admin] }]'),
    asks: [
      ask(both(tokenOf('alice', 'read', 'write', 'more'), tokenOf('alice', 'admin')), 200),
      ask(both(tokenOf('alice', 'read'), tokenOf('alice', 'admin')), 403, /the scope read write/),
      ask(both(tokenOf('bob', 'read', 'write'), tokenOf('bob')), 403, /the scope admin/),
      // Invalid or missing credentials are 401 before a missing scope is 403.
      ...[sending({ 'x-key': tokenOf('joe') }), both('x', tokenOf('joe'))].map(isRefused),
    ],
  },
  '`http` `basic` and other schemes, `mutualTLS`, and every other scheme with a guard of the product':
    {
      yaml: secured('[{ b: [] }, { basic: [] }, { m: [read] }]'),
      product,
      asks: [
        ask(basic('alice:open'), 200, '{"caller":"#basic#alice"}'),
        ask(basic('alice:wrong'), 401, /The credentials are not valid/),
        ask(
          basic('alice:broken'),
          500,
          '{"errors":[{"code":"E500","message":"Internal Server Error"}]}',
        ),
        ...[basic(':open'), as('Bearer alice'), '/x'].map(isRefused),
        ask(sending({ 'client-cert': ':AA==:' }), 200, '{"caller":"#m#alice"}'),
      ],
    },
  'alternatives with a scheme that needs a guard, and has none: they are left out': {
    yaml: secured('[{ basic: [] }, { b: [] }]'),
    asks: [ask(as(`Bearer ${ALICE}`), 200), ...[basic('alice:open'), '/x'].map(isRefused)],
  },
  'an address of an identity provider whose host a policy of the docs page can not have, as `*.example.com`':
    {
      yaml: secured('[{ b: [] }, { w: [] }]').replace(
        bearer,
        bearer.replace(
          'components: { securitySchemes: {',
          "components: { securitySchemes: { w: { type: openIdConnect, openIdConnectUrl: 'https://*.example.com' },",
        ),
      ),
      asks: [ask(as(`Bearer ${ALICE}`), 200)],
    },
  'a scheme that is not in `components/securitySchemes`, with a guard of its name in the product': {
    yaml: `paths:\n  /x:\n    get:\n      operationId: run\n      security: [{ session: [] }]\n      responses: { '204': { description: Done }, default: { description: Failed } }\n`,
    product: {
      guards: {
        session: ({ headers }) =>
          headers['cookie'] === 'a' ? { caller: 'ann', scopes: [] } : undefined,
      },
    },
    run: async () => ({ status: 204 }),
    asks: [ask('/x', 401), ask({ url: '/x', headers: { cookie: 'a' } }, 204)],
  },
  'a scheme that is not in `components/securitySchemes`': `paths:\n  /x:\n    get:\n      operationId: run\n      security: [{ bearer: [] }] # here\n      responses: { '204': { description: Done } }\ncomponents: { securitySchemes: { bearerAuth: { type: http, scheme: bearer } } }`,
  'an `http` scheme, or an `apiKey` in a header or a cookie, with a name that HTTP does not allow': `${secured('[{ k: [] }]').replace(bearer, 'components:\n  securitySchemes:\n    k:')}
      type: apiKey
      in: header
      name: X Key # here`,
  'a scope that no header can hold: empty, or with a space, `"`, `\\` or a character that is not ASCII':
    secured('\n        - o:\n            - read\n            - a b # here'),
  'a scheme that needs a guard, and has none': `${secured('[{ basic: [] }]').replace(bearer, 'components:\n  securitySchemes:')}
    basic: { type: http, scheme: basic } # here`,
}
