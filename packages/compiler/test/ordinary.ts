// Ordinary contracts without a row in SERVED.md: extremes, and combinations seen in public documents.
import type { Served } from '../../../test/support/contracts/serve-contract.ts'

export interface Ordinary extends Served {
  /** Rules without an invalid input. */
  readonly skipped?: readonly string[]
}

const NOTHING = 'the format validates nothing here'
const NEVER = 'no tried value violates it'
const LONG = 'what is longer can not be sent'

/** A contract with a body. @param components schemas by name */
function body(schema: string, components: string, ...skipped: string[]): Ordinary {
  const content = `{ application/json: { schema: ${schema} } }`
  const yaml = `      requestBody: { required: true, content: ${content} }
      responses: { '204': { description: Done } }
components: { schemas: { ${components} } }`
  return { yaml, skipped }
}

/** A contract with parameters. */
const parameters = (list: string, ...skipped: string[]): Ordinary => ({
  yaml: `      parameters: [${list}]\n      responses: { '204': { description: Done } }`,
  skipped,
})

const TREE =
  "Tree: { type: object, required: [id], properties: { id: { type: integer, minimum: 1 }, parts: { type: array, items: { $ref: '#/components/schemas/Tree' } } }, additionalProperties: false }"
const EXPRESSION = `Expression: { oneOf: [{ $ref: '#/components/schemas/Value' }, { $ref: '#/components/schemas/Sum' }] },
  Value: { type: object, required: [value], properties: { value: { type: number } }, additionalProperties: false },
  Sum: { type: object, required: [left, right], properties: { left: { $ref: '#/components/schemas/Expression' }, right: { $ref: '#/components/schemas/Expression' } }, additionalProperties: false }`
const PET = `Pet: { type: object, discriminator: { propertyName: kind }, oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }] },
  Cat: { type: object, required: [kind], properties: { kind: { const: cat }, lives: { type: integer, maximum: 9 } } },
  Dog: { type: object, required: [kind, name], properties: { kind: { const: dog }, name: { type: string, minLength: 1 } } }`
const USER = `User: { type: object, required: [id, name, secret], properties: { id: { type: integer, format: int64, readOnly: true }, name: { type: string, minLength: 1 }, secret: { $ref: '#/components/schemas/Secret' }, friends: { type: array, items: { $ref: '#/components/schemas/User' } } } },
  Secret: { type: string, writeOnly: true }`

export const ORDINARY: Readonly<Record<string, Ordinary>> = {
  'a tree': body("{ $ref: '#/components/schemas/Tree' }", TREE),
  'a tree that nothing uses': body('{ type: integer }', TREE),
  'an expression of expressions': body("{ $ref: '#/components/schemas/Expression' }", EXPRESSION),
  'a map of trees': body(
    "{ type: object, additionalProperties: { $ref: '#/components/schemas/Tree' }, maxProperties: 3 }",
    TREE,
  ),
  'a user with friends': body("{ $ref: '#/components/schemas/User' }", USER),
  'a pet with a discriminator': body("{ $ref: '#/components/schemas/Pet' }", PET),
  'formats that validate nothing': body(
    '{ type: object, properties: { a: { type: string, format: password }, b: { type: number, format: double }, c: { type: string, format: iban }, d: { type: number, format: float }, e: { type: string, format: binary }, f: { type: integer, format: uint128 } } }',
    '',
    ...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `body/properties/${name}/format: ${NOTHING}`),
  ),
  'formats that validate': body(
    `{ type: object, properties: { ${[
      ...['date', 'date-time', 'time', 'duration', 'uuid', 'email', 'hostname', 'ipv4', 'ipv6'],
      ...['uri', 'uri-reference', 'uri-template', 'json-pointer', 'regex', 'byte'],
      'relative-json-pointer',
    ]
      .map((name) => `${name}: { type: string, format: ${name} }`)
      .join()} } }`,
    '',
  ),
  'a price': body('{ type: number, multipleOf: 0.01, minimum: 0 }', ''),
  'multiples of large numbers, and between bounds': body(
    '{ type: object, properties: { a: { type: integer, multipleOf: 10000000000 }, b: { type: integer, format: int64, multipleOf: 7, minimum: -9223372036854775808 }, c: { type: number, multipleOf: 2.5, exclusiveMinimum: 10, maximum: 15 }, d: { type: integer, multipleOf: 5, minimum: 3, maximum: 11 } } }',
    '',
  ),
  'bounds at the ends of int64 and int32': body(
    '{ type: object, properties: { a: { type: integer, format: int64, minimum: -9223372036854775808, maximum: 9223372036854775807 }, b: { type: integer, format: int64, exclusiveMinimum: 9007199254740993 }, c: { type: integer, format: int32, minimum: -2147483648 }, d: { type: integer, minimum: 0, exclusiveMaximum: 1 } } }',
    '',
  ),
  'a map with a bound, and names by a pattern': body(
    "{ type: object, maxProperties: 2, minProperties: 1, propertyNames: { pattern: '^[a-z]{2}$' }, additionalProperties: { type: string, maxLength: 5 } }",
    '',
  ),
  'a pair of one type': body(
    '{ type: array, prefixItems: [{ type: number }, { type: number, maximum: 90 }], items: false, minItems: 2 }',
    '',
  ),
  lists: body(
    '{ type: object, properties: { a: { type: array, items: { type: string }, uniqueItems: true, minItems: 1, maxItems: 5 }, b: { type: array, contains: { const: x }, minContains: 2, maxContains: 3 }, c: { type: array, minItems: 100, items: { type: boolean } }, d: { type: array, maxItems: 0 } } }',
    '',
  ),
  patterns: body(
    `{ type: object, properties: { a: { type: string, pattern: '.*' }, b: { type: string, pattern: '^(cat|dog)s?$' }, c: { type: string, pattern: '^(?=.*[A-Z])(?=.*\\d).{8,}$' }, d: { type: string, pattern: '^\\p{Lu}\\p{L}*$' }, e: { type: string, pattern: '[0-9]' }, f: { type: string, pattern: '^[a-z]*$', minLength: 30, maxLength: 40 }, g: { type: string, pattern: '^(?!x)[a-z]+$' }, h: { type: string, pattern: '^[^\\x00]*$', maxLength: 9 }, i: { type: string, pattern: '^#?([a-f0-9]{6}|[a-f0-9]{3})$' } } }`,
    '',
    `body/properties/a/pattern: ${NEVER}`,
  ),
  'long texts and lists': body(
    '{ type: object, properties: { a: { type: string, maxLength: 100000 }, b: { type: string, minLength: 1000 }, c: { type: string, maxLength: 2147483647 }, d: { type: array, maxItems: 100000, items: { type: integer } } } }',
    '',
    ...['c/maxLength', 'd/maxItems'].map((rule) => `body/properties/${rule}: ${LONG}`),
  ),
  values: body(
    "{ type: object, properties: { a: { enum: [1, a, null, { b: 1 }, [1, 2]] }, b: { const: { c: [true] } }, d: { type: string, enum: ['', A, a] }, e: { type: [string, integer, 'null'] }, f: { type: boolean, const: true } } }",
    '',
  ),
  'null as in OpenAPI 3.0': body(
    '{ type: object, properties: { a: { type: string, nullable: true }, b: { type: integer, minimum: 0, exclusiveMinimum: true } } }',
    '',
  ),
  'alternatives and conditions': body(
    '{ type: object, properties: { a: { anyOf: [{ type: string, maxLength: 2 }, { type: integer, minimum: 10 }] }, b: { oneOf: [{ type: integer, multipleOf: 3 }, { type: integer, multipleOf: 5 }] }, c: { allOf: [{ type: string }, { minLength: 2 }] }, d: { type: string, not: { const: x } } }, if: { required: [a] }, then: { required: [c] }, else: { required: [d] } }',
    '',
  ),
  'members that need each other': body(
    '{ type: object, properties: { card: { type: string }, street: { type: string } }, dependentRequired: { card: [street] }, dependentSchemas: { street: { required: [city] } } }',
    '',
  ),
  'what is unevaluated': body(
    '{ allOf: [{ type: object, properties: { a: { type: string } } }], oneOf: [{ properties: { b: { type: integer } }, required: [b] }, { properties: { c: { type: boolean } }, required: [c] }], unevaluatedProperties: false }',
    '',
  ),
  'an object of patterns': body(
    "{ type: object, patternProperties: { '^x-': { type: string }, '^[0-9]+$': { type: integer } }, additionalProperties: false }",
    '',
  ),
  anything: body('{}', ''),
  'a body without a schema': {
    yaml: "      requestBody: { content: { application/json: {} } }\n      responses: { '204': { description: Done } }",
  },
  'parameters of many kinds': parameters(
    "{ name: a, in: query, schema: { type: string, format: uuid } }, { name: b, in: query, required: true, schema: { type: number, multipleOf: 0.5 } }, { name: c, in: query, schema: { type: array, items: { type: string, enum: [x, y] }, uniqueItems: true } }, { name: d, in: query, explode: false, schema: { type: array, minItems: 1, maxItems: 2, items: { type: integer } } }, { name: X-E, in: header, schema: { type: string, pattern: '^[a-z]+$' } }, { name: f, in: query, schema: { type: string, maxLength: 100000 } }, { name: g, in: query, schema: { type: string, pattern: '.*', format: password } }",
    `d/minItems: ${NEVER}`,
    `f/maxLength: ${LONG}`,
    `g/pattern: ${NEVER}`,
    `g/format: ${NOTHING}`,
  ),
}
