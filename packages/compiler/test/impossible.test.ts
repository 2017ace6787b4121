// The compiler warns of schemas no value can fit, with line and reason.
import t, { type Test } from 'tap'
import { inspect } from '../../../test/support/inner/compiler.ts'
import { contract } from '../../../test/support/contracts/serve-contract.ts'
import { toLine } from '../src/read/diagnostic-lines.ts'
import { codeOf, sentenceOf } from '../src/sentences/sentences.ts'
import { ORDINARY } from './ordinary.ts'

const COMPONENTS = `
components:
  schemas:
    NewMember: { type: object, required: [name], properties: { name: { type: string } }, additionalProperties: false }
    Untyped: { properties: { name: { type: string } }, additionalProperties: false }
    Open: { type: object, properties: { name: { type: string } } }
    Marked: { type: object, properties: { name: { type: string } }, unevaluatedProperties: false }
    Text: { type: string }
    Tree: { type: object, required: [left], properties: { left: { $ref: '#/components/schemas/Tree' } } }
`
const ref = (name: string) => `{ $ref: '#/components/schemas/${name}' }`

const request = (schema: string) => `paths:
  /x:
    post:
      operationId: run
      requestBody: { content: { application/json: { schema: ${schema} } } }
      responses: { '204': { description: Done } }
`

const response = (schema: string) => `paths:
  /x:
    get:
      operationId: run
      responses: { '200': { description: Done, content: { application/json: { schema: ${schema} } } } }
`

/** The warnings about impossible schemas. */
async function warningsOf(t: Test, yaml: string) {
  const folder = t.testdir({ 'openapi.yaml': yaml })
  const { warnings } = await inspect(`${folder}/openapi.yaml`)
  return warnings
    .filter(({ finding }) => codeOf(finding) === 'schema-impossible')
    .map((warning) => ({ ...warning, text: sentenceOf(warning.finding) }))
}

/** Impossible schemas, and the reasons. */
const IMPOSSIBLE: readonly (readonly [schema: string, reason: RegExp])[] = [
  [`{ allOf: [${ref('NewMember')}, { required: [id] }] }`, /requires id, .*describe id beside it/],
  [`{ allOf: [${ref('Untyped')}, { required: [id] }] }`, /requires id/],
  [
    `{ allOf: [${ref('NewMember')}, { type: object, required: [id], properties: { id: { type: integer } } }] }`,
    /additionalProperties: false refuses it/,
  ],
  [`{ $ref: '#/components/schemas/NewMember', required: [id] }`, /requires id/],
  [`{ allOf: [${ref('Marked')}], required: [id], properties: { id: {} } }`, /unevaluatedProp/],
  [`{ type: object, required: [id], unevaluatedProperties: false }`, /unevaluatedProperties/],
  [`{ allOf: [${ref('NewMember')}, ${ref('Text')}] }`, /different types/],
  [`{ allOf: [{ type: object }, { type: array, items: {} }] }`, /different types/],
  [
    `{ allOf: [{ allOf: [{ type: integer }] }, { anyOf: [{ type: string }, { type: boolean }] }] }`,
    /none of its alternatives/,
  ],
  [`{ type: object, allOf: [{ oneOf: [{ type: string }] }] }`, /none of its alternatives/],
  [`{ type: string, enum: [1, 2] }`, /each value of its enum or const/],
  [`{ type: integer, const: a }`, /enum or const/],
  [`{ enum: [a, b], allOf: [{ enum: [c] }] }`, /enum or const/],
  [`{ type: string, minLength: 3, enum: [a, b] }`, /enum or const/],
  [`{ allOf: [{ const: a }, { const: b }] }`, /enum or const/],
  [`{ type: integer, minimum: 5, maximum: 1 }`, /lower bound 5 .* upper bound 1/],
  [`{ minimum: 5, maximum: 1 }`, /lower bound 5/],
  [`{ type: number, minimum: 5, exclusiveMaximum: 5 }`, /bound/],
  [`{ type: number, exclusiveMinimum: 5, minimum: 5, maximum: 5 }`, /bound/],
  [`{ type: integer, exclusiveMinimum: 1, exclusiveMaximum: 2 }`, /no integer/],
  [`{ type: integer, minimum: 0.2, maximum: 0.8 }`, /no integer/],
  [
    `{ type: integer, format: int64, minimum: 9223372036854775807, exclusiveMaximum: 9223372036854775807 }`,
    /no integer/,
  ],
  [`{ allOf: [{ type: number, minimum: 9 }, { maximum: 8 }] }`, /bound 9/],
  [`{ type: string, minLength: 3, maxLength: 2 }`, /minLength 3 is above maxLength 2/],
  [`{ type: array, items: {}, minItems: 2, maxItems: 1 }`, /minItems 2/],
  [`{ type: object, minProperties: 2, maxProperties: 1 }`, /minProperties 2/],
  [`{ type: object, maxProperties: 1, required: [a, b] }`, /requires 2 properties, but allows 1/],
  [`{ type: object, minProperties: 1, additionalProperties: false }`, /minProperties 1/],
  [
    `{ allOf: [${ref('NewMember')}, { minProperties: 2 }] }`,
    /minProperties 2 .*additionalProperties: false allows: 1/,
  ],
  [`{ type: object, required: [a], properties: { a: false } }`, /requires a/],
  [`{ type: object, required: [a], properties: { a: { not: {} } } }`, /requires a/],
  [`{ type: object, required: [a], patternProperties: { '^a': false } }`, /requires a/],
  [`{ type: object, required: [a], propertyNames: { maxLength: 0 } }`, /propertyNames/],
  [
    `{ type: object, required: [a], dependentRequired: { a: [b] }, properties: { a: {} }, additionalProperties: false }`,
    /requires b/,
  ],
  [
    `{ type: object, required: [a], dependentSchemas: { a: { properties: { a: false } } } }`,
    /requires a/,
  ],
  [
    `{ type: object, required: [a], properties: { a: { type: string } }, allOf: [{ properties: { a: { type: integer } } }] }`,
    /requires a, .*different types/,
  ],
  [`{ type: array, minItems: 1, items: false }`, /requires an item/],
  [`{ type: array, minItems: 2, prefixItems: [{}], items: false }`, /requires an item/],
  [`{ type: array, items: { type: string }, contains: { type: integer } }`, /contains/],
  [
    `{ type: array, minItems: 1, items: { type: string }, allOf: [{ items: { type: integer } }] }`,
    /different types/,
  ],
  [`{ type: string, not: { type: string } }`, /./],
  [ref('Tree'), /without end/],
]

for (const [schema, reason] of IMPOSSIBLE) {
  for (const write of [request, response]) {
    t.test(`nothing fits ${schema} in a ${write.name}`, async (t) => {
      const nested = [
        schema,
        `{ type: array, items: ${schema} }`,
        `{ type: object, properties: { a: ${schema} } }`,
        `{ type: object, additionalProperties: { anyOf: [${schema}, { type: boolean }] } }`,
      ]
      for (const place of nested) {
        const warnings = await warningsOf(t, contract(write(place) + COMPONENTS))
        t.match(warnings, [{ text: reason, operations: /./ }], place)
        t.equal(warnings.length, 1)
      }
    })
  }
}

t.test('a warning has the line of the innermost schema', async (t) => {
  const yaml =
    response(ref('Page')) +
    `${COMPONENTS}    Page: { type: object, required: [items], properties: { items: { type: array, minItems: 1, items: ${ref('Member')} } } }
    Member:
      allOf:
        - ${ref('NewMember')}
        - required: [id]
`
  const [warning, ...others] = await warningsOf(t, contract(yaml))
  const line =
    contract(yaml)
      .split('\n')
      .findIndex((text) => text.includes('Member:\n') || text === '    Member:') + 1
  t.match(warning?.at, { line })
  t.strictSame(others, [])
})

t.test('what only one side sends is required only there', async (t) => {
  const readOnly = `{ allOf: [${ref('NewMember')}, { required: [id], properties: { id: { type: integer, readOnly: true } } }] }`
  const writeOnly = readOnly.replace('readOnly', 'writeOnly')
  for (const [yaml, count] of [
    [request(readOnly), 0],
    [response(readOnly), 1],
    [request(writeOnly), 1],
    [response(writeOnly), 0],
  ] as const)
    t.equal((await warningsOf(t, contract(yaml + COMPONENTS))).length, count, yaml)
})

/** Similar schemas with a valid value. */
const POSSIBLE = [
  `{ allOf: [${ref('NewMember')}, { properties: { id: { type: integer } } }] }`,
  `{ allOf: [${ref('Open')}, { required: [id] }] }`,
  `{ allOf: [${ref('Marked')}, { required: [name] }] }`,
  `{ unevaluatedProperties: false, required: [name], allOf: [${ref('Open')}] }`,
  `{ type: object, required: [a], additionalProperties: false, patternProperties: { '^a$': {} } }`,
  `{ type: object, required: [a], additionalProperties: { type: string } }`,
  `{ type: [string, 'null'], enum: [a, null] }`,
  `{ type: integer, allOf: [{ type: number, minimum: 1 }], maximum: 1 }`,
  `{ type: number, multipleOf: 0.01, minimum: 0, maximum: 0 }`,
  `{ type: object, properties: { a: false, b: { not: {} } } }`,
  `{ type: array, maxItems: 0, items: { type: string } }`,
  `{ allOf: [${ref('NewMember')}, { minProperties: 1 }] }`,
  `{ type: object, minProperties: 2, additionalProperties: false, properties: { a: {} }, patternProperties: { '^x-': {} } }`,
  `{ type: object, minProperties: 1, additionalProperties: { type: string } }`,
  `{ type: array, prefixItems: [{}, {}], items: false, minItems: 2 }`,
  `{ type: array, items: false }`,
  `{ type: object, if: { required: [a] }, then: false }`,
  `{ type: object, if: { properties: { a: false }, required: [a] }, else: { required: [b] } }`,
  `{ type: object, not: { required: [a] }, properties: { a: {}, b: {} } }`,
  `{ oneOf: [{ type: object, required: [a], properties: { a: {} } }, { type: object, required: [b] }] }`,
  `{ type: object, properties: { a: {}, b: {} }, additionalProperties: false, oneOf: [{ required: [a] }, { required: [b] }, { required: [c] }] }`,
  `{ type: object, required: [children], properties: { children: { type: array, items: ${ref('Open')} } } }`,
  `{ anyOf: [{ type: 'null' }, ${ref('NewMember')}] }`,
  `{ type: string, minLength: 2, anyOf: [{ maxLength: 1 }, { format: email }] }`,
  `{ type: object, required: [constructor], properties: { constructor: { type: string } }, additionalProperties: false }`,
  `{ type: string, pattern: '^a' }`,
  '{ contains: false }',
  `{ type: object, dependentSchemas: { a: { properties: { b: false } } } }`,
]

t.test('there is no warning where something fits', async (t) => {
  for (const schema of POSSIBLE)
    for (const write of [request, response])
      t.strictSame(await warningsOf(t, contract(write(schema) + COMPONENTS)), [], schema)
  for (const [name, { yaml }] of Object.entries(ORDINARY))
    t.strictSame(await warningsOf(t, contract(yaml)), [], name)
})

t.test('a schema that is invalid has an error', async (t) => {
  const invalid = [
    'required: a',
    'enum: {}',
    'enum: null',
    'dependentRequired: { a: 1 }',
    'allOf: {}',
  ]
  for (const keyword of invalid) {
    const schema = `{ type: object, required: [a], properties: { a: { ${keyword} } } }`
    const folder = t.testdir({ 'openapi.yaml': contract(response(schema)) })
    const { errors } = await inspect(`${folder}/openapi.yaml`)
    t.match(errors.map(toLine), [/must/], keyword)
  }
})
