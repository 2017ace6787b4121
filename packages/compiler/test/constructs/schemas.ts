// Contracts for the lines of SERVED.md about schemas, with requests and their expected answers.
import { accepted, json, refused } from '../../../../test/support/contracts/exchanges.ts'
import { type Constructs, type Served } from '../../../../test/support/contracts/serve-contract.ts'

const body = (schema: string, components = '') =>
  `x-body-limit: 999\npaths:\n  /x:\n    post:\n      operationId: run\n      responses: { '200': { description: Done, content: { application/json: {} } } }\n      requestBody:\n        content:\n          application/json:\n            schema:\n${schema.replaceAll(/^/gm, '              ')}\n${components}`

type Invalid = string | Readonly<Record<string, RegExp>>

/** A schema of a body. @param valid bodies in JSON @param invalid bodies in JSON, and their error messages */
function schema(yaml: string, valid: string, invalid: Invalid = '', components = ''): Served {
  const messages = typeof invalid === 'string' ? { [invalid]: /body/ } : invalid
  const no = Object.entries(messages).flatMap(([texts, message]) => refused(json, texts, message))
  return { yaml: body(yaml, components), asks: [...accepted(json, valid), ...no] }
}

/** Constructs of schemas, by their names in SERVED.md. */
export const SCHEMAS: Constructs = {
  '`integer` with `format: int64`, a `bigint`, in all its 64 bits': schema(
    "type: [integer, 'null']\nformat: int64\nexclusiveMinimum: -9223372036854775808",
    '9223372036854775807 null 1e2=>100',
    '-9223372036854775808 1.5',
  ),
  '`integer` without a format, to ±(2^53 − 1), and with `format: int32`': schema(
    'type: array\nprefixItems: [{ type: integer }, { type: integer, format: int32 }]',
    '[9007199254740991,2147483647]',
    '[9007199254740993] [1e30] [0,2147483648]',
  ),
  'an `integer` beside an int64, in `allOf` or `dependentSchemas`': schema(
    'type: object\nproperties: { id: { allOf: [{ type: integer, format: int64 }, { type: integer, minimum: 1 }, { enum: [7, 8] }] } }\ndependentSchemas: { id: { properties: { id: { type: integer, maximum: 7 } } } }',
    '{"id":7}',
    '{"id":0} {"id":8}',
  ),
  '`number`, `multipleOf` (exactly: 19.99 is a multiple of 0.01), bounds': schema(
    'type: number\nmultipleOf: 0.01\nexclusiveMinimum: 0',
    '19.99 99999999999.99 4.35',
    '19.991 0',
  ),
  '`enum` and `const`, of numbers and int64, too': schema(
    'anyOf: [{ type: integer, format: int64, enum: [9007199254740993] }, { const: { a: [1], b: 2 } }, { enum: [1, 2, 3], const: 3 }, { const: 9007199254740995 }]',
    '9007199254740993 9007199254740995=>9007199254740996 {"b":2,"a":[1]} 3',
    '9007199254740992 9007199254740996 {"a":[2],"b":2} 2',
  ),
  '`default` of a property, up to 100,000 in a body; a `default` of a property that is required is left out':
    schema(
      "type: object\nrequired: [c]\nproperties: { a: { $ref: '#/components/schemas/A' }, b: { type: object, default: {}, properties: { d: { type: integer, default: 2 } } }, c: { type: integer, default: 3 }, e: { type: integer, format: int64, default: 9007199254740993 } }",
      '{"c":1}=>{"c":1,"a":"x","b":{"d":2},"e":9007199254740993}',
      '{}',
      'components: { schemas: { A: { type: string, default: x } } }',
    ),
  'a `default` below `anyOf`, `oneOf`, `then`: filled in where its schema has matched': schema(
    "oneOf:\n  - { $ref: '#/components/schemas/A' }\n  - { type: string }",
    '{}=>{"a":"x"} "a"',
    '',
    'components: { schemas: { A: { type: object, properties: { a: { type: string, default: x } } } } }',
  ),
  'a schema no value can fit, as a required property which is not allowed': schema(
    "allOf: [{ $ref: '#/components/schemas/A' }, { required: [id] }]",
    '',
    '{"id":1} {}',
    'components: { schemas: { A: { type: object, properties: { name: {} }, additionalProperties: false } } }',
  ),
  '`$ref` with keywords beside it, to a reference, and with escapes': schema(
    "$ref: '#/components/schemas/A'\nmaxLength: 3",
    '"ab"',
    '"a" "abcd"',
    "components: { schemas: { A: { $ref: '#/x-all/a~1%62' } } }\nx-all: { a/b: { type: string, minLength: 2 } }",
  ),
  'a `$ref` to an `$anchor`, or to nothing': body(
    "type: array\nitems: { $ref: '#a' } # here",
    'components: { schemas: { A: { $anchor: a } } }',
  ),
  'a schema that refers to itself in a property or an item': schema(
    "$ref: '#/components/schemas/Tree'",
    '{"id":1,"all":[{"id":9007199254740993,"all":[]}]}',
    { '{"id":1,"all":[{}]}': /body\/all\/0 must have required property 'id'/ },
    "components: { schemas: { Tree: { type: object, required: [id], properties: { id: { type: integer, format: int64 }, all: { type: array, items: { $ref: '#/components/schemas/Tree' } } }, additionalProperties: false } } }",
  ),
  'a reference that leads back to itself for the same value, directly or by `allOf` and others':
    body(
      "$ref: '#/components/schemas/A'",
      "components:\n  schemas:\n    A: { $ref: '#/components/schemas/A' } # here",
    ),
  '`allOf`, `anyOf`, `oneOf`, `not`, `if`, `dependentSchemas`, `dependentRequired`': schema(
    'oneOf:\n  - { type: object, required: [kind, bark], properties: { kind: { const: dog }, bark: { type: string } } }\n  - { type: object, required: [kind, meow], properties: { kind: { const: cat }, meow: { type: string } } }',
    '{"kind":"cat","meow":"x"}',
    {
      '{"kind":"cat","meow":7}': /body\/meow must be string/,
      '{"kind":"dog","bark":7}': /body\/bark must be string/,
      '{"kind":"cow"}': /body/,
    },
  ),
  '`discriminator`, `xml`, `externalDocs`, `title`, `$comment`, `deprecated`, `examples`: nothing is validated by them':
    schema(
      "type: object\ndiscriminator: { propertyName: kind, mapping: { a: '#/paths/~1x/post/requestBody/content/application~1json/schema' } }\ntitle: A\nexamples: [{}]\n$comment: c",
      '{}',
    ),
  '`properties`, `patternProperties`, `additionalProperties`, `unevaluatedProperties`, `propertyNames`, `minProperties`':
    schema(
      "allOf: [{ properties: { a: { type: string } } }]\npatternProperties: { '^x': { type: integer } }\nunevaluatedProperties: false",
      '{"a":"b","x1":2}',
      { '{"b":1}': /must not have the property b/, '{"x1":"a"}': /body/ },
    ),
  '`items`, `prefixItems`, `contains`, `unevaluatedItems`, `uniqueItems`, `minItems`': schema(
    'type: array\nprefixItems: [{ type: string }]\nitems: { type: integer, format: int64 }\nuniqueItems: true\ncontains: { const: 7 }',
    '["a",7]',
    '["a",7,7] ["a",8] [7]',
  ),
  '`pattern`, `minLength`, `maxLength` in characters, the formats of ajv-formats': schema(
    "type: string\nmaxLength: 10\nformat: date\npattern: '^2'\ndescription: A day.",
    '"2026-01-01"',
    { '"2026-13-01"': /body/, '"1999-01-01"': /body is invalid: A day\./ },
  ),
  'a format that `formats` of the product has': {
    ...schema(
      'type: object\nproperties: { a: { type: string, format: even, default: aa } }',
      '{"a":"ab"}',
      {
        '{"a":"abc"}': /body\/a must match format/,
      },
    ),
    product: { formats: { even: (text) => text.length % 2 === 0 } },
  },
  'a format that is unknown, or not for the type': schema(
    'type: array\nprefixItems: [{ type: string, format: int32 }, { type: integer, format: date }, { type: string, format: iban }, { type: string, format: binary }]',
    '["a",2147483648,"b","c"]',
    '[7] ["a",1,7]',
  ),
  '`format` of `int8`, `int16`, `uint8`, `uint16`, `uint32`, `double-int`: an integer in its range; `uint64`, a `bigint`':
    schema(
      'type: object\nproperties: { a: { type: integer, format: int8 }, b: { type: integer, format: int16 }, c: { type: integer, format: uint8 }, d: { type: integer, format: uint16 }, e: { type: integer, format: uint32 }, f: { type: integer, format: double-int }, g: { type: integer, format: uint64 }, h: { type: integer, maximum: 18446744073709551615 } }',
      '{"a":-128,"b":-32768,"c":255,"d":65535,"e":4294967295,"f":-9007199254740991,"g":18446744073709551615} {"a":127,"b":32767,"c":0,"d":0,"e":0,"g":9007199254740993}',
      {
        '{"a":128}': /body\/a must be an integer from -128 to 127/,
        '{"c":-1} {"c":256}': /body\/c must be an integer from 0 to 255/,
        '{"e":4294967296}': /from 0 to 4294967295/,
        '{"f":9007199254740992} {"h":9007199254740993}':
          /from -9007199254740991 to 9007199254740991/,
        '{"g":18446744073709551616} {"g":-1}': /from 0 to 18446744073709551615/,
      },
    ),
  '`format` of `decimal` (a string), `char` (one character), `byte` (Base64)': schema(
    "type: object\nproperties: { a: { type: string, format: decimal, examples: ['1.50'] }, b: { type: string, format: char }, c: { type: string, format: byte } }",
    '{"a":"-1.50","b":"é","c":"YQ=="} {"a":"0","b":"🌱"}',
    {
      '{"a":"1e5"} {"a":"1."} {"a":""}': /format .*decimal/,
      '{"b":""} {"b":"ab"}': /format .*char/,
      '{"c":"a"}': /format .*byte/,
    },
  ),
  '`number` with `format: int32` or `int64`: an integer in its range': schema(
    'type: array\nprefixItems: [{ type: number, format: int32 }, { type: number, format: int64 }]',
    '[2147483647,9223372036854775807]',
    {
      '[2147483648]': /body/,
      '[1.5]': /body/,
      '[1,9223372036854775808]':
        /body\/1 must be an integer from -9223372036854775808 to 9223372036854775807/,
    },
  ),
  'a pattern that ECMAScript has only without the flag `u`': schema(
    "type: object\npatternProperties: { '^\\-x': { type: string, pattern: '^[\\w-.]+$' } }",
    '{"-x":"a.b"}',
    '{"-x":"?"}',
  ),
  'a pattern that takes exponential time for some strings': schema(
    "type: object\npatternProperties: { '^([a-z]+)*$': { type: string, pattern: '^(a|a)*b$' } }\nproperties: { A: { type: string, pattern: '^[a-z0-9]+(-[a-z0-9]+)*$' } }",
    '{"x":"aab","A":"a-b"}',
    '{"x":"a"} {"A":"-"}',
  ),
  'a pattern whose time grows with the square of the length or more, without `maxLength` beside it':
    schema(
      "type: object\npatternProperties: { 'a+b': true }\npropertyNames: { pattern: '\\s*$' }\nproperties: { A: { type: string, pattern: '^[^@]+@[^@]+\\.[^@]+$' } }",
      '{"A":"a@b.c"}',
      '{"A":"a"}',
    ),
  'a pattern that ECMAScript does not have': `${body("type: string\npattern: '(?i)a' # here").replace("{ '200'", "{ '400': { $ref: '#/components/responses/No' }, '200'")}components: { responses: { No: { description: No, content: { application/json: { schema: { type: string, pattern: '(' } } } } } }`,
  '`contentEncoding`, `contentMediaType`, `contentSchema` in JSON: nothing is validated by them':
    schema('type: string\ncontentEncoding: base64\ncontentMediaType: image/png', '"AA=="'),
  "`type: 'null'`, several types, `true` and `false` wherever a schema may stand": schema(
    "type: object\nproperties: { a: true, b: false, c: { type: [string, 'null'] }, d: { $ref: '#/components/schemas/No' }, e: { $ref: '#/components/schemas/A/$defs/c' }, f: { items: false, contains: true, unevaluatedItems: false } }\npatternProperties: { '^x': true, '^y': false }\nallOf: [true, { $ref: '#/components/schemas/Yes' }]\nanyOf: [false, true]\nnot: false\nif: true\nthen: true\nelse: false\npropertyNames: true\ndependentSchemas: { a: true, z: false }\n$defs: { a: true, b: false }",
    '{"a":1,"c":null,"e":1,"x":1}',
    '{"b":1} {"c":1} {"d":1} {"y":1} {"z":1} {"f":[1]}',
    'components: { schemas: { Yes: true, No: false, A: { $defs: { c: true } } } }',
  ),
  'a property named `__proto__`': body(
    'type: object\nproperties: # here\n  a: { type: string }\n  __proto__: { type: string }',
  ),
  'keywords whose values are wrong, also beside `$ref`': body(
    "$ref: '#/components/schemas/A'\nminLength: a # here",
    'components: { schemas: { A: { type: string } } }',
  ),
  '`nullable: true`: beside a type it allows null, without one it is a no-op': schema(
    "type: object\nproperties: { a: { type: string, nullable: true, minLength: 2 }, b: { $ref: '#/components/schemas/A', nullable: true } }",
    '{"a":null} {"a":"ab","b":"c"}',
    '{"a":"a"} {"a":7} {"b":null}',
    'components: { schemas: { A: { type: string, nullable: false } } }',
  ),
  '`required: true` in the schema of a property': {
    yaml: `paths:\n  /x: { post: { operationId: run, requestBody: { content: { application/json: { schema: { type: object, properties: { a: { type: integer, required: true }, required: { type: integer } } } } } }, responses: { '200': { description: Done, content: { application/json: {} } } } } }\n`,
    asks: [
      ...accepted(json, '{"a":1,"required":1}'),
      ...refused(json, '{"a":"x"} {"required":"x"}', /body/),
    ],
  },
  'other keywords that JSON Schema 2020-12 does not have, `$recursiveRef` among them': schema(
    'type: string\nmin_length: 2\n$recursiveAnchor: true',
    '"a"',
  ),
  'a `default` refused by its schema': schema(
    'type: object\nproperties: { a: { type: string, default: null }, b: { type: integer, default: 7 } }',
    '{}=>{"b":7}',
  ),
  'a `default` with which more than 100 properties would be filled in, as within itself': schema(
    "type: object\nproperties: { a: { $ref: '#/components/schemas/A' } }",
    '{} {"a":{}}',
    '',
    "components: { schemas: { A: { type: object, default: {}, properties: { a: { $ref: '#/components/schemas/A' } } } } }",
  ),
  'an example refused by its schema': {
    yaml: "      requestBody: { content: { application/json: { schema: { type: integer, example: 1 }, examples: { a: { value: 7 }, b: { value: x } } } } }\n      responses: { '200': { description: Done, content: { application/json: {} } } }",
    asks: [...accepted(json, '7'), ...refused(json, '"x"', /body must be an integer/)],
  },
  'a value of `enum` that the type beside it refuses': schema(
    "type: [string, 'null']\nenum: [a, 7, null]",
    '"a" null',
    '7',
  ),
  'a `default` in an alternative for a property': schema(
    "type: object\nproperties: { a: { anyOf: [{ type: string, default: x }, { type: 'null' }] } }",
    '{} {"a":null}',
  ),
  '`exclusiveMinimum: true` and `exclusiveMaximum: true`, as OpenAPI 3.0 had them': schema(
    'type: array\nprefixItems: [{ type: number, minimum: 1, exclusiveMinimum: true }, { type: integer, maximum: 9, exclusiveMaximum: false }]',
    '[1.5,9]',
    '[1] [2,10]',
  ),
  '`$id`, `$anchor`, `$dynamicRef`, `$dynamicAnchor`': body(
    'type: string\n$id: https://example.com/a # here',
  ),
}
