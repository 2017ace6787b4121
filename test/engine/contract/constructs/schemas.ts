import { type Constructs, post } from '../../../support/small.ts'

const body = (schema: string, components = '') =>
  `x-body-limit: 999\npaths:\n  /x:\n    post:\n      operationId: run\n      responses: { '200': { description: Done, content: { application/json: {} } } }\n      requestBody:\n        content:\n          application/json:\n            schema:\n${schema.replaceAll(/^/gm, '              ')}\n${components}`
const valid = (payload: unknown, text?: string) =>
  [post(payload), 200, text ?? `{"body":${typeof payload === 'string' ? payload : JSON.stringify(payload)}}`] as const
const invalid = (payload: unknown, text = /body/) => [post(payload), 400, text] as const

/** Constructs of schemas, by their names in the README. */
export const SCHEMAS: Constructs = {
  '`integer` with `format: int64`, a `bigint`, in all its 64 bits': {
    yaml: body("type: [integer, 'null']\nformat: int64\nexclusiveMinimum: -9223372036854775808"),
    asks: [
      valid('9223372036854775807'),
      valid('null'),
      invalid('-9223372036854775808'),
      valid('1e2', '{"body":100}'),
      invalid('1.5'),
    ],
  },
  '`integer` without a format, to ±(2^53 − 1), and with `format: int32`': {
    yaml: body('type: array\nprefixItems: [{ type: integer }, { type: integer, format: int32 }]'),
    asks: [
      valid('[9007199254740991,2147483647]'),
      invalid('[9007199254740993]'),
      invalid('[1e30]'),
      invalid('[0,2147483648]'),
    ],
  },
  'an `integer` beside an int64, in `allOf` or `dependentSchemas`': {
    yaml: body(
      'type: object\nproperties: { id: { allOf: [{ type: integer, format: int64 }, { type: integer, minimum: 1 }, { enum: [7, 8] }] } }\ndependentSchemas: { id: { properties: { id: { type: integer, maximum: 7 } } } }',
    ),
    asks: [valid({ id: 7 }), invalid({ id: 0 }), invalid({ id: 8 })],
  },
  '`number`, `multipleOf` (exactly: 19.99 is a multiple of 0.01), bounds': {
    yaml: body('type: number\nmultipleOf: 0.01\nexclusiveMinimum: 0'),
    asks: [valid('19.99'), valid('99999999999.99'), invalid('19.991'), invalid('0'), valid('4.35')],
  },
  '`enum` and `const`, of numbers and int64, too': {
    yaml: body(
      'anyOf: [{ type: integer, format: int64, enum: [9007199254740993] }, { const: { a: [1], b: 2 } }, { enum: [1, 2, 3], const: 3 }, { const: 9007199254740995 }]',
    ),
    asks: [
      valid('9007199254740993'),
      invalid('9007199254740992'),
      valid('9007199254740995', '{"body":9007199254740996}'),
      invalid('9007199254740996'),
      valid('{"b":2,"a":[1]}'),
      invalid({ a: [2], b: 2 }),
      valid('3'),
      invalid('2'),
    ],
  },
  '`default` of a member; a `default` of a member that is required is left out': {
    yaml: body(
      "type: object\nrequired: [c]\nproperties: { a: { $ref: '#/components/schemas/A' }, b: { type: object, default: {}, properties: { d: { type: integer, default: 2 } } }, c: { type: integer, default: 3 }, e: { type: integer, format: int64, default: 9007199254740993 } }",
      'components: { schemas: { A: { type: string, default: x } } }',
    ),
    asks: [valid({ c: 1 }, '{"body":{"c":1,"a":"x","b":{"d":2},"e":9007199254740993}}'), invalid({})],
  },
  'a `default` below `anyOf`, `oneOf`, `then`: filled in where its schema has matched': {
    yaml: body(
      "oneOf:\n  - { $ref: '#/components/schemas/A' }\n  - { type: string }",
      'components: { schemas: { A: { type: object, properties: { a: { type: string, default: x } } } } }',
    ),
    asks: [valid({}, '{"body":{"a":"x"}}'), valid('"a"')],
  },
  '`$ref` with keywords beside it, to a reference, and with escapes': {
    yaml: body(
      "$ref: '#/components/schemas/A'\nmaxLength: 3",
      "components: { schemas: { A: { $ref: '#/x-all/a~1%62' } } }\nx-all: { a/b: { type: string, minLength: 2 } }",
    ),
    asks: [valid('"ab"'), invalid('"a"'), invalid('"abcd"')],
  },
  'a `$ref` to an `$anchor`, or to nothing': body(
    "type: array\nitems: { $ref: '#a' } # here",
    'components: { schemas: { A: { $anchor: a } } }',
  ),
  'a schema that refers to itself in a member or an item': {
    yaml: body(
      "$ref: '#/components/schemas/Tree'",
      "components: { schemas: { Tree: { type: object, required: [id], properties: { id: { type: integer, format: int64 }, all: { type: array, items: { $ref: '#/components/schemas/Tree' } } }, additionalProperties: false } } }",
    ),
    asks: [
      valid('{"id":1,"all":[{"id":9007199254740993,"all":[]}]}'),
      invalid({ id: 1, all: [{}] }, /body\/all\/0 must have required property 'id'/),
    ],
  },
  'a reference that leads back to itself for the same value, directly or by `allOf` and others': body(
    "$ref: '#/components/schemas/A'",
    "components:\n  schemas:\n    A: { $ref: '#/components/schemas/A' } # here",
  ),
  '`allOf`, `anyOf`, `oneOf`, `not`, `if`, `dependentSchemas`, `dependentRequired`': {
    yaml: body(
      'oneOf:\n  - { type: object, required: [kind, bark], properties: { kind: { const: dog }, bark: { type: string } } }\n  - { type: object, required: [kind, meow], properties: { kind: { const: cat }, meow: { type: string } } }',
    ),
    asks: [
      valid({ kind: 'cat', meow: 'x' }),
      invalid({ kind: 'cat', meow: 7 }, /body\/meow must be string/),
      invalid({ kind: 'dog', bark: 7 }, /body\/bark must be string/),
      invalid({ kind: 'cow' }, /body/),
    ],
  },
  '`discriminator`, `xml`, `externalDocs`, `title`, `$comment`, `deprecated`, `examples`: nothing is validated by them':
    {
      yaml: body(
        "type: object\ndiscriminator: { propertyName: kind, mapping: { a: '#/paths/~1x/post/requestBody/content/application~1json/schema' } }\ntitle: A\nexamples: [{}]\n$comment: c",
      ),
      asks: [valid({})],
    },
  '`properties`, `patternProperties`, `additionalProperties`, `unevaluatedProperties`, `propertyNames`, `minProperties`':
    {
      yaml: body(
        "allOf: [{ properties: { a: { type: string } } }]\npatternProperties: { '^x': { type: integer } }\nunevaluatedProperties: false",
      ),
      asks: [valid({ a: 'b', x1: 2 }), invalid({ b: 1 }, /must not have the property b/), invalid({ x1: 'a' })],
    },
  '`items`, `prefixItems`, `contains`, `unevaluatedItems`, `uniqueItems`, `minItems`': {
    yaml: body(
      'type: array\nprefixItems: [{ type: string }]\nitems: { type: integer, format: int64 }\nuniqueItems: true\ncontains: { const: 7 }',
    ),
    asks: [valid(['a', 7]), invalid(['a', 7, 7]), invalid(['a', 8]), invalid([7])],
  },
  '`pattern`, `minLength`, `maxLength` in characters, the formats of ajv-formats': {
    yaml: body("type: string\nmaxLength: 10\nformat: date\npattern: '^2'\ndescription: A day."),
    asks: [valid('"2026-01-01"'), invalid('"2026-13-01"'), invalid('"1999-01-01"', /body is invalid: A day\./)],
  },
  'a format that `formats` of the product has': {
    yaml: body('type: object\nproperties: { a: { type: string, format: even, default: aa } }'),
    product: { formats: { even: (text) => text.length % 2 === 0 } },
    asks: [valid({ a: 'ab' }), invalid({ a: 'abc' }, /body\/a must match format/)],
  },
  'a format that is unknown, or not for the type': {
    yaml: body(
      'type: array\nprefixItems: [{ type: string, format: int32 }, { type: integer, format: date }, { type: string, format: iban }, { type: string, format: binary }]',
    ),
    asks: [valid(['a', 2147483648, 'b', 'c']), invalid([7]), invalid(['a', 1, 7])],
  },
  '`number` with `format: int32` or `int64`: an integer in its range': {
    yaml: body('type: array\nprefixItems: [{ type: number, format: int32 }, { type: number, format: int64 }]'),
    asks: [
      valid('[2147483647,9223372036854775807]'),
      invalid('[2147483648]'),
      invalid('[1.5]'),
      invalid('[1,9223372036854775808]', /body\/1 must be an integer from -9223372036854775808 to 9223372036854775807/),
    ],
  },
  'a pattern that ECMAScript has only without the flag `u`': {
    yaml: body("type: object\npatternProperties: { '^\\-x': { type: string, pattern: '^[\\w-.]+$' } }"),
    asks: [valid({ '-x': 'a.b' }), invalid({ '-x': '?' })],
  },
  'a pattern that ECMAScript does not have': `${body("type: string\npattern: '(?i)a' # here").replace("{ '200'", "{ '400': { $ref: '#/components/responses/No' }, '200'")}components: { responses: { No: { description: No, content: { application/json: { schema: { type: string, pattern: '(' } } } } } }`,
  '`contentEncoding`, `contentMediaType`, `contentSchema` in JSON: nothing is validated by them': {
    yaml: body('type: string\ncontentEncoding: base64\ncontentMediaType: image/png'),
    asks: [valid('"AA=="')],
  },
  "`type: 'null'`, several types, `true` and `false` as schemas": {
    yaml: body("type: object\nproperties: { a: true, b: false, c: { type: [string, 'null'] } }"),
    asks: [valid({ a: 1, c: null }), invalid({ b: 1 }), invalid({ c: 1 })],
  },
  'a member named `__proto__`': body(
    'type: object\nproperties: # here\n  a: { type: string }\n  __proto__: { type: string }',
  ),
  'keywords whose values are wrong, also beside `$ref`': body(
    "$ref: '#/components/schemas/A'\nminLength: a # here",
    'components: { schemas: { A: { type: string } } }',
  ),
  '`nullable: true`: beside a type it allows null, without one it says nothing': {
    yaml: body(
      "type: object\nproperties: { a: { type: string, nullable: true, minLength: 2 }, b: { $ref: '#/components/schemas/A', nullable: true } }",
      'components: { schemas: { A: { type: string, nullable: false } } }',
    ),
    asks: [
      valid({ a: null }),
      valid({ a: 'ab', b: 'c' }),
      invalid({ a: 'a' }),
      invalid({ a: 7 }),
      invalid({ b: null }),
    ],
  },
  'other keywords that JSON Schema 2020-12 does not have, `$recursiveRef` among them': {
    yaml: body('type: string\nmin_length: 2\n$recursiveAnchor: true'),
    asks: [valid('"a"')],
  },
  'a `default` that its schema refuses': {
    yaml: body('type: object\nproperties: { a: { type: string, default: null }, b: { type: integer, default: 7 } }'),
    asks: [valid({}, '{"body":{"b":7}}')],
  },
  'a `default` that would be filled in within itself': {
    yaml: body(
      "type: object\nproperties: { a: { $ref: '#/components/schemas/A' } }",
      "components: { schemas: { A: { type: object, default: {}, properties: { a: { $ref: '#/components/schemas/A' } } } } }",
    ),
    asks: [valid({}, '{"body":{}}'), valid({ a: {} }, '{"body":{"a":{}}}')],
  },
  'a `default` in an alternative for a member': {
    yaml: body("type: object\nproperties: { a: { anyOf: [{ type: string, default: x }, { type: 'null' }] } }"),
    asks: [valid({}), valid({ a: null })],
  },
  '`exclusiveMinimum: true` and `exclusiveMaximum: true`, as OpenAPI 3.0 had them': {
    yaml: body(
      'type: array\nprefixItems: [{ type: number, minimum: 1, exclusiveMinimum: true }, { type: integer, maximum: 9, exclusiveMaximum: false }]',
    ),
    asks: [valid('[1.5,9]'), invalid('[1]'), invalid('[2,10]')],
  },
  '`$id`, `$anchor`, `$dynamicRef`, `$dynamicAnchor`': body('type: string\n$id: https://example.com/a # here'),
}
