// For errors of an unknown form, the compiler writes a template of the body from its schema.
import t, { type Test } from 'tap'
import { inspect } from '../src/compile.ts'
import { dryRun } from '../src/commands/draft.ts'
import { toLine } from '../src/read/diagnostic-lines.ts'
import type { ErrorFormat } from '../../engine/src/contract/compiled.ts'
import type { Template } from '../../engine/src/contract/error-templates.ts'
import type { ProductHooks } from '../../engine/src/contract/product-hooks.ts'
import { HttpError } from '../../engine/src/errors.ts'
import { boot, contract } from '../../../test/support/contracts/serve-contract.ts'

/** A contract with one operation. @param schema the schema of its errors */
const yaml = (schema: string, key = 'default', type = 'application/json') => `paths:
  /x/{n}:
    get:
      operationId: run
      parameters: [{ name: n, in: path, required: true, schema: { type: integer } }]
      responses:
        '204': { description: Done }
        ${key}: { description: Failed, content: { ${type}: { schema: ${schema} } } }
components:
  schemas:
    Coded: { type: object, required: [code], properties: { code: { type: string, pattern: '^[A-Z_]+$' } } }
    Cause: { type: object, required: [text, why], properties: { text: { type: string }, why: { type: array, items: { $ref: '#/components/schemas/Cause' } } } }
`
const closed = (required: string, properties: string) =>
  `{ type: object, required: [${required}], properties: { ${properties} }, additionalProperties: false }`

/** Schemas of errors, and their templates. */
const FORMS: Readonly<Record<string, readonly [schema: string, template: Template]>> = {
  'a list of messages': [
    closed(
      'code, errors',
      'code: { type: integer }, errors: { type: array, minItems: 1, items: { type: string } }',
    ),
    { code: '$status', errors: ['$message'] },
  ],
  'a list of errors': [
    `{ type: array, minItems: 1, items: ${closed('error_code, error_message', 'error_code: { type: integer }, error_message: { type: string }')} }`,
    [{ error_code: '$status', error_message: '$message' }],
  ],
  'an error in an object, with details': [
    closed(
      'error',
      `error: ${closed('code, message, details', 'code: { type: string, example: INVALID_NAME }, message: { type: string }, details: { type: array, items: { type: object, required: [field], properties: { field: { type: string } } } }')}`,
    ),
    { error: { code: '$code', message: '$message', details: [] } },
  ],
  'allOf, with a pattern': [
    "{ allOf: [{ $ref: '#/components/schemas/Coded' }, { type: object, required: [text, traceId], properties: { text: { type: string }, traceId: { type: string } } }] }",
    { code: '$reasonUpper', text: '$message', traceId: '$id' },
  ],
  'the alternative of oneOf that has a place for the message': [
    `{ oneOf: [${closed('kind, fields', 'kind: { const: fields }, fields: { type: object, additionalProperties: { type: string } }')}, ${closed('kind, reason', 'kind: { const: other }, reason: { type: string }')}] }`,
    { kind: 'other', reason: '$message' },
  ],
  'JSON:API': [
    closed(
      'jsonapi, errors',
      `jsonapi: ${closed('version', "version: { const: '1.1' }")}, errors: { type: array, minItems: 1, items: ${closed('id, status, code, title, detail', "id: { type: string }, status: { type: string, pattern: '^[0-9]{3}$' }, code: { type: string }, title: { type: string }, detail: { type: string }, source: { type: object }")} }`,
    ),
    {
      jsonapi: { version: '1.1' },
      errors: [
        {
          id: '$id',
          status: '$statusString',
          code: '$code',
          title: '$reason',
          detail: '$message',
        },
      ],
    },
  ],
  'RFC 9457 with more required properties': [
    closed(
      'type, title, status, instance, traceId, timestamp, service',
      'type: { type: string, format: uri }, title: { type: string }, status: { type: integer, minimum: 400, maximum: 599 }, detail: { type: string }, instance: { type: string, format: uri-reference }, traceId: { type: string }, timestamp: { type: integer, format: int64 }, service: { const: x }',
    ),
    {
      type: 'about:blank',
      title: '$reason',
      status: '$status',
      detail: '$message',
      instance: '$path',
      traceId: '$id',
      timestamp: '$milliseconds',
      service: 'x',
    },
  ],
  'as SOAP has it': [
    closed(
      'Fault',
      `Fault: ${closed('faultcode, faultstring', 'faultcode: { type: string }, faultstring: { type: string }, detail: { type: object }')}`,
    ),
    { Fault: { faultcode: '$code', faultstring: '$message' } },
  ],
  'messages by the names of fields': [
    closed(
      'errors',
      'errors: { type: object, minProperties: 1, additionalProperties: { type: array, items: { type: string } } }',
    ),
    { errors: { message: ['$message'] } },
  ],
  'as Spring has it': [
    closed(
      'timestamp, status, error, path',
      'timestamp: { type: string, format: date-time }, status: { type: integer }, error: { type: string }, path: { type: string }, message: { type: string }',
    ),
    {
      timestamp: '$time',
      status: '$status',
      error: '$reason',
      path: '$path',
      message: '$message',
    },
  ],
  'a form that leads back to itself': [
    "{ $ref: '#/components/schemas/Cause' }",
    { text: '$message', why: [] },
  ],
  'a string': ['{ type: string, maxLength: 20 }', '$message:20'],
  'constants alone': [
    closed('', 'a: { const: message path/n must be an integer }'),
    { a: 'message path/n must be an integer' },
  ],
  'constants that look like placeholders': [
    closed('currency, text', "currency: { const: '$5' }, text: { type: string }"),
    { currency: '$$5', text: '$message' },
  ],
}

for (const [what, [schema, template]] of Object.entries(FORMS)) {
  t.test(`a form of errors is written as a template: ${what}`, async (t) => {
    t.strictSame(templateIn(await errorOf(t, yaml(schema))), template)
    const app = await boot(t, { yaml: yaml(schema) })
    const { statusCode, body } = await app.inject('/x/a')
    t.equal(statusCode, 400)
    t.match(body, 'path/n must be an')
    t.equal(await misfit(t, schema, JSON.parse(body)), undefined)
  })
}

/** Templates of a required property, by its schema. */
const PROPERTIES: readonly (readonly [property: string, template: Template])[] = [
  ['when: { type: string, format: date-time }', '$time'],
  ['day: { type: string, format: date }', '$day'],
  ['timestamp: { type: integer, format: int64 }', '$milliseconds'],
  ['timestamp: { type: integer, format: int32 }', '$seconds'],
  ['timestamp: { type: string }', '$time'],
  ['x-request-id: { type: string }', '$id'],
  ['reference: { type: string, format: uuid }', '$id'],
  ["path: { type: string, pattern: '^/x/1$' }", '$path'],
  ['url: { type: string }', '$path'],
  ['instance: { type: string, maxLength: 255 }', '$path:255'],
  ['operation: { type: string }', '$operationId'],
  ["code: { type: string, pattern: '^[0-9]{3}$' }", '$statusString'],
  ["code: { type: string, pattern: '^[a-z_]+$' }", '$reasonLower'],
  ['code: { type: string, example: NO_NAME }', '$code'],
  ['type: { type: string, format: uri }', 'about:blank'],
  ['title: { type: string }', '$reason'],
  ['name: { type: string }', '$reason'],
  ['status: { type: integer, maximum: 599 }', '$status'],
  ['status: { type: string, enum: [success, fail] }', 'fail'],
  ['success: { type: boolean }', false],
  ['success: { const: true }', true],
  ['details: { type: array, items: { type: string } }', []],
  ['path: { type: array, items: { type: string } }', []],
  ['fields: { type: object, additionalProperties: { type: string } }', {}],
  ['data: { type: [object, "null"] }', null],
  ['hint: { type: string, example: Write a name, minLength: 3 }', 'unknown'],
  ["hint: { type: string, pattern: '^[A-Z]{2}-[0-9]$', example: AB-7 }", 'AA-0'],
  ['count: { type: integer, example: 7 }', 0],
  ['count: { type: integer, minimum: 5 }', 5],
]

t.test('a property is written by its name, its format and its bounds', async (t) => {
  for (const [property, template] of PROPERTIES) {
    const name = property.replace(/:.*/, '')
    const schema = closed(`message, ${name}`, `message: { type: string }, ${property}`)
    const expected = { message: '$message', [name]: template }
    t.strictSame(templateIn(await errorOf(t, yaml(schema))), expected, property)
  }
})

t.test('an optional property is left out if it tells nothing of the error', async (t) => {
  const withOptional = (property: string) =>
    closed('reason', `reason: { type: string }, ${property}`)
  for (const property of [
    'odd: { not: {} }',
    'documentation: { type: string }',
    'player: { type: object, properties: { id: { type: string } } }',
    'fields: { type: array, items: { type: object, properties: { field: { type: string, example: a } } } }',
  ])
    t.strictSame(
      templateIn(await errorOf(t, yaml(withOptional(property)))),
      { reason: '$message' },
      property,
    )
  const withTime = withOptional('when: { type: string, format: date-time }')
  t.strictSame(templateIn(await errorOf(t, yaml(withTime))), { reason: '$message', when: '$time' })
})

t.test('a code of a list is the one of the status', async (t) => {
  const codes = '[BAD_REQUEST, UNAUTHORIZED, NOT_FOUND, INTERNAL, TRY_LATER_UNAVAILABLE]'
  const schema = closed('code, text', `code: { enum: ${codes} }, text: { type: string }`)
  const error = await errorOf(t, yaml(schema))
  t.match(error, {
    template: { code: 'BAD_REQUEST' },
    statuses: {
      401: { code: 'UNAUTHORIZED' },
      404: { code: 'NOT_FOUND' },
      500: { code: 'INTERNAL' },
      501: { code: 'INTERNAL' },
      503: { code: 'TRY_LATER_UNAVAILABLE' },
    },
  })
  const app = await boot(t, {
    yaml: yaml(schema),
    run: async ({ path }) => {
      throw new HttpError((path as { n: number }).n, 'away')
    },
  })
  for (const [status, code] of [
    [409, 'BAD_REQUEST'],
    [404, 'NOT_FOUND'],
    [503, 'TRY_LATER_UNAVAILABLE'],
  ] as const)
    t.equal((await app.inject(`/x/${status}`)).body, JSON.stringify({ code, text: 'away' }))

  const numbers = closed('code, text', 'code: { enum: [40001, 40401] }, text: { type: string }')
  t.match(await errorOf(t, yaml(numbers)), { statuses: { 404: { code: 40401 } } })
})

t.test('an undescribed error has the code of its status, too', async (t) => {
  const codes = '[BAD_REQUEST, NOT_FOUND, METHOD_NOT_ALLOWED, INTERNAL]'
  const schema = closed('code, text', `code: { enum: ${codes} }, text: { type: string }`)
  const json = `{ description: Failed, content: { application/json: { schema: ${schema} } } }`
  for (const key of ['default', "'400'"]) {
    const app = await boot(t, {
      yaml: `      responses: { '204': { description: Done }, ${key}: ${json} }`,
      run: async () => {
        throw new HttpError(501, 'Not written')
      },
    })
    const codeOf = async (url: string, method: 'GET' | 'PUT' = 'GET') => {
      const answer = await app.inject({ url, method })
      return answer.json<{ code: string }>().code
    }
    t.equal(await codeOf('/x'), 'INTERNAL', key)
    t.equal(await codeOf('/nowhere'), 'NOT_FOUND', key)
    t.equal(await codeOf('/x', 'PUT'), 'METHOD_NOT_ALLOWED', key)
  }
})

t.test('the message has a place wherever the schema has one for it', async (t) => {
  for (const [schema, template] of [
    [closed('title', 'title: { type: string }'), { title: '$message' }],
    [closed('Meldung', 'Meldung: { type: string }'), { Meldung: '$message' }],
    [
      '{ type: object, required: [a], properties: { a: { const: 1 } } }',
      { a: 1, message: '$message' },
    ],
    [
      '{ type: object, required: [title, a], properties: { title: { type: string }, a: { const: 1 } } }',
      { title: '$message', a: 1 },
    ],
  ] as const)
    t.strictSame(templateIn(await errorOf(t, yaml(schema))), template, schema)
  const none = yaml(closed('a', 'a: { const: 1 }'))
  t.match(
    (await dryRun(fileOf(t, none))).join('\n'),
    'as { a: 1 }, which has no place for the message:',
  )
})

t.test('a message that the schema restricts is written only if all messages fit', async (t) => {
  for (const [rule, template] of [
    ['maxLength: 1000', '$message'],
    ['maxLength: 999', '$message:999'],
    ['minLength: 1', '$message'],
    [String.raw`pattern: '^[^"\\]*$'`, '$code'],
    ["pattern: '^[A-Z ]+$'", 'A'],
    ['enum: [Wrong, Away]', 'Wrong'],
  ] as const) {
    const schema = closed('kind, message', `kind: { const: 1 }, message: { type: string, ${rule} }`)
    const { warnings, compiled } = await inspect(fileOf(t, yaml(schema)))
    t.strictSame(
      templateIn(compiled?.operations[0]?.errors['default']),
      { kind: 1, message: template },
      rule,
    )
    const isTold = warnings.some((warning) => toLine(warning).includes('no place for the message'))
    t.equal(isTold, !template.startsWith('$message'), rule)
  }
  const app = await boot(t, {
    yaml: yaml(closed('text', 'text: { type: string, maxLength: 30 }')),
    run: async () => {
      throw new HttpError(400, '😀'.repeat(20))
    },
  })
  t.equal((await app.inject('/x/1')).body, JSON.stringify({ text: `${'😀'.repeat(14)}…` }))
})

t.test('such an operation is served, and the dry run shows the template', async (t) => {
  const schema = closed(
    'code, errors',
    'code: { type: string }, errors: { type: array, items: { type: string } }',
  )
  const lines = await dryRun(fileOf(t, yaml(schema, '4XX')))
  t.match(lines, ['GET /x/{n}: served'])
  t.match(
    lines.join('\n'),
    "the service writes this error as { code: '$code', errors: ['$message'] }: an errorBody in product.ts may write another body",
  )
  t.match(lines.at(-1), '1 of 1 operations are served')
})

t.test('an error for which no body can be made is refused, with its schema', async (t) => {
  const schema = '{ type: object, required: [a], properties: { a: { type: integer, enum: [] } } }'
  const lines = await dryRun(fileOf(t, yaml(schema)))
  t.match(lines, ['GET /x/{n}: refused'])
  t.match(
    lines.join('\n'),
    "no body could be made for it: write into product.ts an errorBody that fits { type: 'object', required: [ 'a' ]",
  )
  t.match(lines.at(-1), '0 of 1 operations are served')
})

t.test('a schema of hundreds of objects within each other is written soon', async (t) => {
  const levels = Array.from(
    { length: 300 },
    (_, index) =>
      `    L${index}: { type: object, required: [id], properties: { id: { type: string }, text: { type: string }, ${Array.from({ length: 5 }, (_, n) => `p${n}: { $ref: '#/components/schemas/L${(index * 5 + n + 1) % 300}' }`).join(', ')} } }\n`,
  ).join('')
  t.match(templateIn(await errorOf(t, `${yaml("{ $ref: '#/components/schemas/L0' }")}${levels}`)), {
    id: '$id',
    text: '$message',
  })
})

t.test('the errorBody of a product wins over templates', async (t) => {
  const schema = closed('code, text', 'code: { type: string }, text: { type: string }')
  const errorBody: ProductHooks['errorBody'] = (status, message, { operationId, path }) => ({
    code: `${operationId} ${path} ${status}`,
    text: message.toUpperCase(),
  })
  const app = await boot(t, { yaml: yaml(schema), product: { errorBody } })
  t.match((await app.inject('/x/a')).body, '{"code":"run /x/a 400","text":"PATH/N MUST BE')
  const { warnings } = await inspect(fileOf(t, yaml(schema)), { errorBody })
  t.strictSame(warnings, [])
})

t.test('an errorBody is tried with the operations that it tells apart', async (t) => {
  const both = `${yaml(closed('a', 'a: { const: 1 }')).replace(/components:.*/s, '')}  /y: { get: { operationId: other, responses: { default: { description: Failed, content: { application/json: { schema: ${closed('b', 'b: { const: 2 }')} } } } } } }\n`
  const product: ProductHooks = {
    errorBody: (status, _message, { path, id, operationId }) =>
      path === '/x/1' && /^[\da-f-]{36}$/.test(id) && operationId === 'run' && status !== 404
        ? { a: 1 }
        : { b: 2 },
  }
  const { errors } = await inspect(fileOf(t, both), product)
  t.match(errors.map(toLine), [
    /:10: errorBody\(404, 'The reason', { operationId: 'run', ... }\) does not fit: .* It must fit { type: 'object', required: \[ 'a' \]/,
  ])
  t.equal(errors.length, 1)
})

function fileOf(t: Test, text: string): string {
  return `${t.testdir({ 'openapi.yaml': contract(text) })}/openapi.yaml`
}

/** The format of the only error of a contract. */
async function errorOf(t: Test, text: string): Promise<ErrorFormat | undefined> {
  const { compiled, errors } = await inspect(fileOf(t, text))
  t.strictSame(errors.map(toLine), [])
  return Object.values(compiled?.operations[0]?.errors ?? {})[0]
}

function templateIn(error: ErrorFormat | undefined): unknown {
  return error?.form === 'template' ? error.template : error
}

/** Validates a body by a schema in YAML. */
async function misfit(t: Test, schema: string, body: unknown): Promise<string | undefined> {
  const { schemas, compiled } = await inspect(fileOf(t, yaml(schema)))
  const error = compiled?.operations[0]?.errors['default']
  const id = error && 'schema' in error ? error.schema : ''
  return schemas.check('body', { $ref: id })(body).error
}
