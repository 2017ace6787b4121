// The errorBody that the compiler suggests, where the form of errors is none that the service knows: it fits as it is pasted.
import t, { type Test } from 'tap'
import { compile, dryRun } from '../../../test/support/inner/compiler.ts'
import type { ProductHooks } from '@plant-store/engine/for-compiler'
import { HttpError } from '@plant-store/engine/for-store'
import { boot, contract } from '../../../test/support/contracts/serve-contract.ts'

const SCHEMAS: readonly (readonly [schema: string, text: string, answer: RegExp])[] = [
  [
    '{ type: object, required: [errors], properties: { errors: { type: array, minItems: 1, items: { type: object, required: [code, detail], properties: { code: { type: string }, detail: { type: string } } } } } }',
    '(status, message) => ({ errors: [{ code: `E${status}`, detail: message }] })',
    /^\{"errors":\[\{"code":"E400","detail":"query\/a must be an integer/,
  ],
  [
    '{ type: object, required: [statusCode, error, path, requestId, kind], properties: { statusCode: { type: integer }, error: { type: string }, path: { type: string }, requestId: { type: string }, a: { type: string }, kind: { enum: [client, server] } } }',
    "(status, message, { path, id }) => ({ statusCode: status, error: message, path, requestId: id, kind: 'client' })",
    /^\{"statusCode":400,"error":"query\/a must be an integer.*","path":"\/x","requestId":"[\w-]+","kind":"client"\}$/,
  ],
  [
    "{ $ref: '#/components/schemas/Failure' }",
    "(status, message) => ({ 'error-code': 3, status: String(status), nested: { message } })",
    /"nested":\{"message":"query/,
  ],
]
const yaml = (schema: string) => `paths:
  /x:
    get:
      operationId: run
      parameters: [{ name: a, in: query, schema: { type: integer } }]
      responses:
        '204': { description: Done }
        default: { description: Failed, content: { application/json: { schema: ${schema} } } }
components:
  schemas:
    Failure: { type: object, required: [error-code, status, nested], properties: { error-code: { const: 3 }, status: { type: string }, nested: { type: object, required: [message], properties: { message: { type: string } } } } }
`
const SUGGESTED = /: write into product\.ts errorBody: (\(.*\) => .*),$/m

for (const [schema, text, answer] of SCHEMAS) {
  t.test(text, async (t) => {
    const suggested = await suggestion(t, yaml(schema))
    t.equal(suggested, text)
    t.match(
      (await dryRun(fileOf(t, yaml(schema)))).join('\n'),
      suggested,
      'the dry run shows it, too',
    )
    const app = await boot(t, { yaml: yaml(schema), product: await pasted(suggested) })
    t.match((await app.inject('/x?a=b')).body, answer)
  })
}

/** What the compiler writes for a member, by its schema; the answer has the member. */
const MEMBERS: readonly (readonly [member: string, text: string])[] = [
  ['when: { type: string, format: date-time }', 'when: new Date().toISOString()'],
  ['day: { type: string, format: date }', 'day: new Date().toISOString().slice(0, 10)'],
  ['timestamp: { type: integer, format: int64 }', 'timestamp: Date.now()'],
  ['timestamp: { type: integer, format: int32 }', 'timestamp: 0'],
  ['traceId: { type: string, format: uuid }', 'traceId: id'],
  ['reference: { type: string, format: uuid }', 'reference: id'],
  ["path: { type: string, pattern: '^/x$' }", 'path'],
  ["path: { type: string, pattern: '^[A-Z]+$' }", "path: 'A'"],
  ['operation: { type: string }', 'operation: operationId'],
  ["code: { type: string, pattern: '^[0-9]{3}$' }", 'code: String(status)'],
  ['type: { type: string, format: uri }', "type: 'about:blank'"],
  ['status: { type: integer, maximum: 599 }', 'status'],
  ["status: { type: string, enum: [it's, fail] }", 'status: "it\'s"'],
  ['success: { type: boolean }', 'success: false'],
  ['success: { const: true }', 'success: true'],
  ['details: { type: array, items: { type: string } }', 'details: [message]'],
  ['path: { type: array, items: { type: string } }', "path: ['string']"],
  ['developer_message: { type: string }', 'developer_message: message'],
  ['cause: { type: string }', 'cause: message'],
  ['problem: { type: string }', 'problem: message'],
  ['fields: { type: object, additionalProperties: { type: string } }', 'fields: {}'],
  ['detail: { type: string, maxLength: 300 }', 'detail: message.slice(0, 300)'],
  ['error: { enum: [BAD, WORSE] }', "error: 'BAD'"],
  ['nothing: { type: "null" }', 'nothing: null'],
  ["'a b': { type: string, enum: [c] }", "'a b': 'c'"],
]

t.test('a member is written by its name, its format and its bounds', async (t) => {
  for (const [member, text] of MEMBERS) {
    const name = member.replaceAll(/'|:.*/g, '')
    const schema = `{ type: object, required: [text, ${name}], properties: { text: { type: object, required: [message], properties: { message: { type: string } } }, ${member} }, additionalProperties: false }`
    t.match(await suggestion(t, yaml(schema)), `text: { message }, ${text} })`, member)
  }
})

t.test(
  'a member that is not required is left out if nothing fits, or if it says nothing of the error',
  async (t) => {
    const closed = (members: string) =>
      `{ type: object, required: [detail], properties: { detail: { type: string }, ${members} }, additionalProperties: false }`
    for (const member of [
      'odd: { not: {} }',
      'documentation: { type: string }',
      'player: { type: string, format: uuid }',
      'errors: { type: array, items: { type: object, properties: { field: { type: string, example: email } } } }',
    ])
      t.equal(
        await suggestion(t, yaml(closed(member))),
        '(_status, message) => ({ detail: message })',
        member,
      )
    t.equal(
      await suggestion(t, yaml(closed('when: { type: string, format: date-time }'))),
      '(_status, message) => ({ detail: message, when: new Date().toISOString() })',
    )
  },
)

t.test('a body without the message is said to be so', async (t) => {
  const schema =
    '{ type: object, required: [one], properties: { one: { type: string } }, additionalProperties: false }'
  const lines = await dryRun(fileOf(t, yaml(schema)))
  t.match(
    lines.join('\n'),
    "has no place for the message: write into product.ts errorBody: () => ({ one: 'string' }),",
  )
  t.equal(
    await suggestion(t, yaml(schema.replace(', additionalProperties: false', ''))),
    "(_status, message) => ({ one: 'string', message })",
    'a member is added where the schema allows one',
  )
})

t.test('a message that the schema restricts is written only if all messages fit', async (t) => {
  const bounded = (rule: string) =>
    `{ type: object, required: [kind, message], properties: { kind: { const: 1 }, message: { type: string, ${rule} } }, additionalProperties: false }`
  for (const [rule, text] of [
    ['maxLength: 1000', 'message'],
    ['maxLength: 999', 'message: message.slice(0, 999)'],
    ['minLength: 1', 'message'],
    [String.raw`pattern: '^[^"\\]*$'`, "message: 'string'"],
    ["pattern: '^[A-Z ]+$'", "message: 'A'"],
    ['enum: [Wrong, Away]', "message: 'Wrong'"],
  ] as const) {
    const lines = (await dryRun(fileOf(t, yaml(bounded(rule))))).join('\n')
    t.match(lines, `=> ({ kind: 1, ${text} }),`, rule)
    t.equal(lines.includes('has no place for the message'), text.includes("'"), rule)
  }
})

t.test('an error for which no body can be made is refused, with its schema', async (t) => {
  const schema = '{ type: object, required: [a], properties: { a: { type: integer, enum: [] } } }'
  const lines = await dryRun(fileOf(t, yaml(schema)))
  t.match(lines, ['GET /x: refused'])
  t.match(
    lines.join('\n'),
    "no body could be made for it: write into product.ts an errorBody that fits { type: 'object', required: [ 'a' ]",
  )
  t.match(lines.at(-1), '0 of 1 operations are served')
})

const A =
  '{ type: object, required: [a, message], properties: { a: { const: 1 }, message: { type: string } }, additionalProperties: false }'
const B =
  '{ type: object, required: [b, detail], properties: { b: { const: 2 }, detail: { type: string } }, additionalProperties: false }'
const C = '{ type: object, required: [b], properties: { b: { type: integer }, detail: {} } }'
const KNOWN = '{ type: object, required: [error, message] }'
const OF_A = '{ a: 1, message }'
const OF_B = '{ b: 2, detail: message }'

/** Forms of errors, each a schema by operation and status; and the function for all of them. */
const FORMS: readonly (readonly [
  what: string,
  operations: Readonly<Record<string, Readonly<Record<string, string>>>>,
  text: string,
])[] = [
  [
    'one body that fits all',
    { x: { default: B }, y: { default: C } },
    `(_status, message) => (${OF_B})`,
  ],
  [
    'a form for a status',
    { x: { '401': A, default: B }, y: { '401': A, default: B } },
    `(status, message) => { if (status === 401) return ${OF_A}; return ${OF_B} }`,
  ],
  [
    'a form for all statuses but one',
    {
      x: { '401': A, default: B },
      ...Object.fromEntries(
        'a b c d e f g h i j k l m'.split(' ').map((id) => [id, { '401': A, default: KNOWN }]),
      ),
    },
    `(status, message) => { if (status !== 401) return ${OF_B}; return ${OF_A} }`,
  ],
  [
    'a form for an operation, also where it does not describe a status',
    { x: { '400': A }, y: { '503': B } },
    `(_status, message, { operationId }) => { if (operationId === 'y') return ${OF_B}; return ${OF_A} }`,
  ],
  [
    'a form for some statuses',
    { x: { '401': A, '404': A, default: B } },
    `(status, message) => { if ([401, 404].includes(status)) return ${OF_A}; return ${OF_B} }`,
  ],
  [
    'a form for the faults of the service',
    { x: { '4XX': A, '5XX': B } },
    `(status, message) => { if (status >= 500) return ${OF_B}; return ${OF_A} }`,
  ],
  [
    'a form for the faults of the caller',
    { x: { '4XX': A, '5XX': B }, y: { '4XX': KNOWN, '5XX': B }, z: { '4XX': KNOWN, '5XX': B } },
    `(status, message) => { if (status < 500) return ${OF_A}; return ${OF_B} }`,
  ],
  [
    'a form for an operation',
    { x: { default: A }, "it's": { '400': B, '500': B } },
    `(_status, message, { operationId }) => { if (operationId === "it's") return ${OF_B}; return ${OF_A} }`,
  ],
  [
    'a form for a status of operations',
    { x: { '400': B, default: A }, y: { '400': A }, z: { '400': B, default: A } },
    `(status, message, { operationId }) => { if (['x', 'z'].includes(operationId) && status === 400) return ${OF_B}; return ${OF_A} }`,
  ],
  [
    'a form for an operation, and for a status of another',
    { x: { '400': B, default: A }, y: { default: B }, z: { default: A } },
    `(status, message, { operationId }) => { if ((operationId === 'x' && status === 400) || operationId === 'y') return ${OF_B}; return ${OF_A} }`,
  ],
  [
    'a form for different statuses of operations',
    { x: { '400': B, default: A }, y: { '401': B, default: A } },
    `(status, message, { operationId }) => { if ((operationId === 'x' && status === 400) || (operationId === 'y' && status === 401)) return ${OF_B}; return ${OF_A} }`,
  ],
]

for (const [what, operations, text] of FORMS) {
  t.test(`several forms of errors: ${what}`, async (t) => {
    const document = documentOf(operations)
    t.equal(await suggestion(t, document), text)
    const product = await pasted(text)
    await compile(fileOf(t, document), product)
    const status = Object.keys(Object.values(operations)[0] ?? {}).find(Number) ?? '503'
    const run = async () => {
      throw new HttpError(Number(status), 'away')
    }
    const app = await boot(t, { yaml: document, product, run })
    t.match((await app.inject('/1/7')).body, 'away')
  })
}

t.test('what an errorBody would serve need not be left out', async (t) => {
  const unfit = '{ type: object, required: [a], properties: { a: { not: {} } } }'
  const file = fileOf(t, documentOf({ x: { default: A }, y: { default: unfit } }))
  await t.rejects(compile(file, {}), { message: /errorBody: \(_.*\n.*\n.*without: \['y'\],$/ })
})

t.test('an errorBody is tried with the operations that it tells apart', async (t) => {
  const file = fileOf(t, documentOf({ x: { default: A }, y: { default: B } }))
  const product: ProductHooks = {
    errorBody: (status, message, { path, id, operationId }) =>
      path === '/1/1' && /^[\da-f-]{36}$/.test(id) && operationId === 'x' && status !== 404
        ? { a: 1, message }
        : { b: 2, detail: message },
  }
  await t.rejects(compile(file, product), {
    message:
      /:10: errorBody\(404, 'The reason', { operationId: 'x', ... }\) does not fit: .* It must fit { type: 'object', required: \[ 'a', 'message' \], .* }$/m,
  })
})

function fileOf(t: Test, text: string): string {
  return `${t.testdir({ 'openapi.yaml': contract(text) })}/openapi.yaml`
}

/** The function that the compiler prints. */
async function suggestion(t: Test, text: string): Promise<string> {
  const [, suggested = ''] =
    SUGGESTED.exec(await compile(fileOf(t, text), {}).then(() => '', String)) ?? []
  return suggested
}

async function pasted(text: string): Promise<ProductHooks> {
  const module = `data:text/javascript,export const errorBody = ${encodeURIComponent(text)}`
  return { ...((await import(module)) as ProductHooks) }
}

/** A contract with the operations `/1/{n}`, `/2/{n}`, ..., by id, each with schemas of errors by status. */
function documentOf(operations: (typeof FORMS)[number][1]): string {
  const paths = Object.entries(operations).map(([id, errors], index) => {
    const responses = Object.entries(errors).map(
      ([status, schema]) =>
        `        '${status}': { description: Failed, content: { application/json: { schema: ${schema} } } }`,
    )
    return [
      `  /${index + 1}/{n}:`,
      '    get:',
      `      operationId: "${id}"`,
      '      parameters: [{ name: n, in: path, required: true, schema: { type: integer } }]',
      '      responses:',
      "        '204': { description: Done }",
      ...responses,
    ].join('\n')
  })
  return ['paths:', ...paths, ''].join('\n')
}
