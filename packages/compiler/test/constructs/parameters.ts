// Contracts for the lines of SERVED.md about parameters, with requests and their expected answers.
import {
  accepted,
  ask,
  path,
  query,
  refused,
} from '../../../../test/support/contracts/exchanges.ts'
import { type Constructs } from '../../../../test/support/contracts/serve-contract.ts'

const parameter = (lines: string) =>
  `      parameters:\n        - name: a\n${lines.replaceAll(/^/gm, '          ')}`

/** A request with cookies, and the cookies of the method as JSON, or a pattern of the answer. */
const cookies = (cookie: string, got: string | RegExp) => [
  typeof got === 'string'
    ? ask({ url: '/x', headers: { cookie } }, 200, `{"cookie":${got}}`)
    : ask({ url: '/x', headers: { cookie } }, 400, got),
]

/** Constructs of parameters, by their names in SERVED.md. */
export const PARAMETERS: Constructs = {
  'a parameter in `path`, `query`, `header` or `cookie`': {
    yaml: `paths:\n  /{a}: { get: { operationId: run, parameters: [{ name: a, in: path, required: true, schema: { type: integer } }, { name: b, in: query, schema: { type: number } }, { name: X-C, in: header, schema: { type: boolean } }, { name: D, in: cookie, schema: { type: string, maxLength: 5 } }, { name: e, in: cookie, schema: { type: integer, default: 3 } }], responses: { '200': { description: Done, content: { application/json: {} } } } } }\n`,
    asks: [
      ask(
        { url: '/7', headers: { cookie: 'd=x; D=a%20b; e=7' } },
        200,
        '{"path":{"a":7},"cookie":{"D":"a b","e":7}}',
      ),
      ask(
        { url: '/7', headers: { cookie: 'D=%FF; f=1' } },
        200,
        '{"path":{"a":7},"cookie":{"D":"%FF","e":3}}',
      ),
      ask({ url: '/7', headers: { cookie: 'e=x' } }, 400, /cookie\/e must be an integer/),
      ask({ url: '/7', headers: { cookie: 'e=1; e=1' } }, 400, /cookie\/e must not be repeated/),
      ask({ url: '/7', headers: { 'x-c': '1' } }, 400, /header\/X-C must be boolean/),
      ask(
        { url: '/7?c=1', headers: { 'x-c': 'true' } },
        200,
        '{"path":{"a":7},"header":{"X-C":true},"cookie":{"e":3}}',
      ),
      ask('/07', 400, /path\/a must be an integer/),
      ask('/7?b=1&b=2', 400, /query\/b must not be repeated/),
      ask('/7?b=1.5', 200, '{"path":{"a":7},"query":{"b":1.5},"cookie":{"e":3}}'),
      ask(
        { url: '/7', headers: { 'X-C': ['true', 'true'] } },
        400,
        /header\/X-C must not be repeated/,
      ),
    ],
  },
  'a parameter of a path, which an operation may replace': {
    yaml: `paths:\n  /x: { parameters: [{ name: a, in: query, required: true, schema: { type: string } }], get: { operationId: run, parameters: [{ name: a, in: query, schema: { type: integer } }], responses: { '200': { description: Done, content: { application/json: {} } } } } }\n`,
    asks: [ask('/x', 200, '{}'), ask('/x?a=x', 400)],
  },
  'a parameter in `cookie` with a name that HTTP does not allow': `      parameters: [{ in: cookie, schema: true, name: 'a b' }] # here`,
  'the headers `Accept`, `Authorization`, `Content-Type` as parameters': {
    yaml: '      parameters: [{ name: Authorization, in: header, required: true, schema: { type: integer } }]',
    asks: [ask('/x', 200, '{}'), ask({ url: '/x', headers: { authorization: 'a' } }, 200, '{}')],
  },
  'a parameter whose type is one of `integer`, `number`, `boolean`, `string`, or is known by `enum` or `const`':
    {
      yaml: `      parameters:
        - { name: i, in: query, schema: { type: integer } }
        - { name: l, in: query, schema: { type: integer, format: int64, minimum: 5, maximum: 9007199254740993 } }
        - { name: n, in: query, schema: { type: number } }
        - { name: b, in: query, schema: { type: boolean } }
        - { name: t, in: query, schema: { $ref: '#/components/schemas/Tag', maxLength: 2 } }
        - { name: e, in: query, schema: { enum: [asc, desc] } }
        - { name: X-Text, in: header, schema: { type: string, minLength: 2 } }
      responses: { '200': { description: Done, content: { application/json: {} } } }
components: { schemas: { Tag: { type: string } } }`,
      asks: [
        ...accepted(
          query,
          'i=7&x=1&b=false=>{"i":7,"b":false} l=9007199254740993=>{"l":9007199254740993}',
        ),
        ...accepted(
          query,
          'i=9007199254740991&n=-1.5e3&t=77=>{"i":9007199254740991,"n":-1500,"t":"77"} n=9007199254740993&e=asc=>{"n":9007199254740992,"e":"asc"}',
        ),
        ...refused(query, 'i=9007199254740993 i=7.0', /query\/i/),
        ...refused(query, 'l=9007199254740994 l=4', /query\/l/),
        ...refused(query, 'n=1e999 n=.5', /query\/n/),
        ...refused(query, 'b=1 t=777 e=up', /query\/[bte]/),
        ask(
          { url: '/x', headers: { 'x-text': '12', 'x-other': 'y' } },
          200,
          '{"header":{"X-Text":"12"}}',
        ),
        ask({ url: '/x', headers: { 'x-text': 'a' } }, 400, /header\/X-Text/),
      ],
    },
  'a parameter that may be null, or is `anyOf` one type and null': {
    yaml: "      parameters: [{ name: a, in: query, schema: { anyOf: [{ type: integer }, { type: 'null' }] } }]",
    asks: [ask('/x?a=7', 200, '{"query":{"a":7}}'), ask('/x?a=null', 400)],
  },
  'a parameter whose alternatives leave its type, or the items of its list, to what is around them':
    {
      yaml: `      parameters:
        - { name: a, in: query, schema: { type: number, oneOf: [{ maximum: 1 }, { minimum: 5 }] } }
        - { name: b, in: query, schema: { allOf: [{ $ref: '#/components/schemas/Whole' }], anyOf: [{ enum: [3] }, { anyOf: [{ maximum: -1 }, { minimum: 5 }] }] } }
        - { name: c, in: query, schema: { type: array, items: { type: integer }, anyOf: [{ maxItems: 1 }, { items: { maximum: 5 } }] } }
        - { name: d, in: query, schema: { type: number, anyOf: [{ type: integer, format: int64 }, { minimum: 0.5 }] } }
      responses: { '200': { description: Done, content: { application/json: {} } } }
components: { schemas: { Whole: { type: integer } } }`,
      asks: [
        ...accepted(query, 'a=0.5=>{"a":0.5} a=5=>{"a":5} b=3=>{"b":3} b=-7=>{"b":-7}'),
        ...accepted(query, 'c=9=>{"c":[9]} c=1&c=2=>{"c":[1,2]}'),
        ...accepted(query, 'd=9007199254740993=>{"d":9007199254740993} d=1.5=>{"d":1.5}'),
        ...refused(query, 'a=2 a=x b=2 b=1.5 c=1&c=9 c=x d=-0.5', /query\/[abcd]/),
      ],
    },
  'a parameter of several types, a list among them: a string, or each item of a list, is the first of int64, integer, number, boolean, string that its schema takes':
    {
      yaml: `      parameters:
        - { name: a, in: query, schema: { anyOf: [{ type: integer, maximum: 5 }, { type: boolean }, { type: string }] } }
        - { name: b, in: query, schema: { oneOf: [{ type: string, enum: [all] }, { type: array, items: { type: integer, format: int64 } }] } }
        - { name: c, in: query, schema: { type: [string, number, 'null'] } }
        - { name: d, in: query, schema: { enum: [1, asc] } }
        - { name: e, in: query, schema: { anyOf: [{ type: number }, { type: integer, format: int64 }] } }
        - { name: f, in: query, explode: false, schema: { type: array, maxItems: 3, items: { anyOf: [{ type: integer, maximum: 5 }, { type: string, maxLength: 2 }] } } }
        - { name: g, in: query, schema: { oneOf: [{ type: boolean }, { type: array, items: { type: [integer, string], maximum: 5 } }] } }
        - { name: h, in: query, schema: { anyOf: [{ type: array, items: { type: integer } }, { type: array, items: { type: string } }] } }
        - { name: i, in: query, explode: false, schema: { anyOf: [{ enum: [all] }, { type: array, items: { type: integer } }] } }`,
      asks: [
        ...accepted(query, 'a=5=>{"a":5} a=6=>{"a":"6"} a=true=>{"a":true} a=05=>{"a":"05"}'),
        ...accepted(
          query,
          'b=all=>{"b":"all"} b=9007199254740993=>{"b":[9007199254740993]} b=1&b=2=>{"b":[1,2]}',
        ),
        ...accepted(query, 'c=1e2&d=1.0=>{"c":100,"d":1} c=null&d=asc=>{"c":"null","d":"asc"}'),
        ...accepted(query, 'e=9007199254740993=>{"e":9007199254740993}'),
        ...refused(query, 'a=5&a=5', /query\/a must not be repeated/),
        ...refused(query, 'b=1&b=all b=some', /query\/b/),
        ...accepted(query, 'f=5,6,x=>{"f":[5,"6","x"]} g=true&g=6&g=5=>{"g":["true","6",5]}'),
        ...accepted(query, 'g=6=>{"g":["6"]} g=true=>{"g":true}'),
        ...accepted(query, 'h=1&h=2=>{"h":[1,2]} h=1&h=x=>{"h":["1","x"]}'),
        ...accepted(query, 'i=all=>{"i":"all"} i=1,2=>{"i":[1,2]} i=1=>{"i":[1]}'),
        ...refused(query, 'i=1,all i=1&i=2', /query\/i/),
        ...refused(query, 'f=5,600', /query\/f\/1/),
        ...refused(query, 'f=5,6,7,8', /must NOT have more than 3 items/),
      ],
    },
  'a parameter without a type: a string': {
    yaml: '      parameters: [{ name: a, in: query, schema: { maxLength: 2 } }, { name: b, in: query, schema: true }, { name: c, in: query, schema: false }]',
    asks: [
      ask('/x?a=7&b=8', 200, '{"query":{"a":"7","b":"8"}}'),
      ask('/x?a=777', 400),
      ask('/x?c=1', 400),
    ],
  },
  'a parameter with neither `schema` nor `content`: a string': {
    yaml: '      parameters: [{ name: a, in: query }]',
    asks: [ask('/x?a=7', 200, '{"query":{"a":"7"}}'), ask('/x', 200, '{}')],
  },
  'a parameter of a path without `required: true`': {
    yaml: `paths:\n  /x/{a}: { get: { operationId: run, parameters: [{ name: a, in: path, required: false, schema: { type: integer } }], responses: { '200': { description: Done, content: { application/json: {} } } } } }\n`,
    asks: [ask('/x/7', 200, '{"path":{"a":7}}'), ask('/x/a', 400), ask('/x/', 404)],
  },
  'a parameter that is an object or something else, or that is a list of lists': parameter(
    'in: query\nschema: { type: [object, string] } # here',
  ),
  'a list with `prefixItems` or `unevaluatedItems`': {
    yaml: `      parameters:
        - { name: a, in: query, schema: { type: array, prefixItems: [{ type: integer, format: int64 }, { type: string }], items: { type: boolean } } }
        - { name: b, in: query, schema: { type: array, prefixItems: [{ type: string }], unevaluatedItems: { type: integer } } }`,
    asks: [
      ...accepted(query, 'a=9007199254740993&a=2&a=true=>{"a":[9007199254740993,"2",true]}'),
      ...accepted(query, 'b=6&b=7=>{"b":["6",7]}'),
      ...refused(query, 'a=x a=1&a=2&a=3 b=x&b=x', /query\/[ab]/),
    ],
  },
  'a list with `prefixItems` that are objects': parameter(
    'in: query\nschema: { type: array, prefixItems: [{ type: object }] } # here',
  ),
  'a list in a query: `a=1&a=2`, or with `explode: false` `a=1,2`': {
    yaml: `      parameters: [{ name: a, in: query, schema: { type: array, maxItems: 2, items: { type: integer, format: int64 } } }, { name: b, in: query, explode: false, schema: { type: array, uniqueItems: true, items: { type: string } } }]`,
    asks: [
      ask('/x?a=9007199254740993', 200, '{"query":{"a":[9007199254740993]}}'),
      ask('/x?a=1&a=2&b=c,d%2Ce,+', 200, '{"query":{"a":[1,2],"b":["c","d,e"," "]}}'),
      ask('/x?a=1,2', 400, /query\/a\/0 must be an integer/),
      ask('/x?a=1&a=2&a=3', 400, /must NOT have more than 2 items/),
      ask('/x?b=c&b=d', 400, /must not be repeated/),
      ask('/x?b=c,c', 400, /query\/b must NOT have duplicate items/),
    ],
  },
  'a list in a header: `1, 2`': {
    yaml: '      parameters: [{ name: X-A, in: header, schema: { type: array, items: { type: integer } } }]',
    asks: [
      ask({ url: '/x', headers: { 'x-a': '1 ,2,' } }, 200, '{"header":{"X-A":[1,2]}}'),
      ask({ url: '/x', headers: { 'x-a': '' } }, 200, '{"header":{"X-A":[]}}'),
      ask({ url: '/x', headers: { 'x-a': 'b' } }, 400, /header\/X-A\/0 must be an integer/),
    ],
  },
  'a list in a path: `1,2`; a comma in an item is sent as `%2C`': {
    yaml: `paths:
  /{a}:
    get:
      operationId: run
      parameters: [{ name: a, in: path, required: true, schema: { type: array, minItems: 2, items: { type: string } } }]
      responses: { '200': { description: Done, content: { application/json: {} } } }
  /x/{a-b}.json:
    get:
      operationId: mixed
      parameters: [{ name: a-b, in: path, required: true, schema: { type: array, items: { type: integer, format: int64 } } }]
      responses: { '200': { description: Done, content: { application/json: {} } } }
`,
    asks: [
      ...accepted(path, '/b,c%2Cd,%2F=>{"a":["b","c,d","/"]} /,=>{"a":["",""]}'),
      ...accepted(path, '/x/9007199254740993,2.json=>{"a-b":[9007199254740993,2]}'),
      ...refused(path, '/b%2Cc /x/1%2C2.json /x/a.json', /path\/a/),
    ],
  },
  'a list or an object in a cookie with `explode: false`: `a=1,2`, and `a=b,1,c,x`': {
    yaml: `      parameters:
        - { name: a, in: cookie, explode: false, schema: { type: array, items: { type: integer, format: int64 } } }
        - { name: d, in: cookie, explode: false, schema: { type: object, properties: { b: { type: integer }, c: { type: string } } } }`,
    asks: [
      ...cookies('a=9007199254740993,2', '{"a":[9007199254740993,2]}'),
      ...cookies('d=b,1,c,x%2Cy; a=1', '{"a":[1],"d":{"b":1,"c":"x,y"}}'),
      ...cookies('a=1,x', /cookie\/a\/1 must be an integer/),
      ...cookies('a=1; a=2', /cookie\/a must not be repeated/),
      ...cookies('d=b,1; d=c,x', /cookie\/d must not be repeated/),
      ...cookies('d=b', /cookie\/d must be as b,1,c,2/),
    ],
  },
  'a list or an object in a cookie without `explode: false`': parameter(
    'in: cookie\nschema: { type: array } # here',
  ),
  'an object in a query whose properties are described: `b=1&c=x`': {
    yaml: `      parameters:
        - { name: a, in: query, schema: { type: object, required: [b], properties: { b: { type: integer, format: int64 }, c: { type: array, items: { type: boolean } } } } }
        - { name: d, in: query, schema: { type: string } }`,
    asks: [
      ...accepted(query, 'b=9007199254740993&d=7=>{"a":{"b":9007199254740993},"d":"7"}'),
      ...accepted(query, 'b=1&c=true&c=false&e=1=>{"a":{"b":1,"c":[true,false]}}'),
      ...accepted(query, 'd=7=>{"d":"7"}'),
      ...refused(query, 'c=true b=x b=1&b=1', /query\/a/),
    ],
  },
  'an object in a query with properties by `additionalProperties` or patterns, or without any: it takes all names of the query without another use':
    {
      yaml: `paths:
  /x:
    get:
      operationId: run
      security: [{}, { key: [] }]
      parameters:
        - { name: a, in: query, schema: { type: object, additionalProperties: { type: integer, format: int64 }, maxProperties: 2 } }
        - { name: d, in: query, schema: { type: object, properties: { e: { type: string } } } }
        - { name: f, in: query, schema: { type: array, items: { type: boolean } } }
      responses: { '200': { description: Done, content: { application/json: {} } } }
  /y:
    get:
      operationId: other
      parameters: [{ name: a, in: query, required: true, schema: { type: object, minProperties: 1 } }]
      responses: { '200': { description: Done, content: { application/json: {} } } }
  /z:
    get:
      operationId: patterns
      parameters: [{ name: a, in: query, schema: { type: object, properties: { b: { type: integer } }, patternProperties: { '^x-': { type: boolean } }, additionalProperties: false } }]
      responses: { '200': { description: Done, content: { application/json: {} } } }
components: { securitySchemes: { key: { type: apiKey, in: query, name: key } } }
`,
      product: { guards: { key: () => undefined } },
      asks: [
        ...accepted(query, 'b=9007199254740993&a=2=>{"a":{"b":9007199254740993,"a":2}}'),
        ...accepted(query, 'b=1&e=x&f=true=>{"a":{"b":1},"d":{"e":"x"},"f":[true]}'),
        ask('/x?f=true', 200, '{"query":{"f":[true]}}'),
        ...refused(query, 'b=x b=1&b=2 b=1&c=2&a=3 __proto__=1', /query\/a/),
        ask('/x?key=1', 401),
        ask('/y?a=1&constructor=', 200, '{"query":{"a":{"a":"1","constructor":""}}}'),
        ask('/y', 400, /required property 'a'/),
        ask('/z?b=1&x-c=true', 200, '{"query":{"a":{"b":1,"x-c":true}}}'),
        ask('/z?x-c=1', 400, /query\/a\/x-c must be boolean/),
        ask('/z?c=1', 400, /query\/a/),
      ],
    },
  'such an object beside a second one, or beside a `deepObject`': `      parameters:
        - { name: b, in: query, style: deepObject, schema: { type: object } }
        - name: a
          in: query
          schema: { type: object } # here`,
  'an object in a query with `explode: false`: `a=b,1,c,x`; a comma in a name or a value is sent as `%2C`':
    {
      yaml: `      parameters:
        - { name: a, in: query, explode: false, schema: { type: object, required: [b], properties: { b: { type: integer, format: int64 }, c: { type: string, default: x } } } }
        - { name: d, in: query, explode: false, allowEmptyValue: true, schema: { type: object, additionalProperties: { type: boolean } } }`,
      asks: [
        ...accepted(query, 'a=b,9007199254740993=>{"a":{"b":9007199254740993,"c":"x"}}'),
        ...accepted(query, 'a=c,1%2C2,b,7,d%2Ce,=>{"a":{"c":"1,2","b":7,"d,e":""}}'),
        ...accepted(query, 'd=constructor,true=>{"d":{"constructor":true}} d==>{"d":{}}'),
        ...refused(query, 'a=b a=b,1,c', /query\/a must be as b,1,c,2/),
        ...refused(query, 'a=b,1&a=b,1', /query\/a must not be repeated/),
        ...refused(query, 'a=b,1,b,1', /query\/a\/b must not be repeated/),
        ...refused(query, 'a=b,1,__proto__,1', /query\/a must not have the property/),
        ...refused(query, 'a= a=c,1 a=b,x d=b,1 a=b%2C1', /query\/[ad]/),
      ],
    },
  'an object in a path or a header: `b,1,c,x`, or with `explode: true` `b=1,c=x`': {
    yaml: `paths:
  /{a}:
    get:
      operationId: run
      parameters:
        - { name: a, in: path, required: true, schema: { $ref: '#/components/schemas/A' } }
        - { name: X-A, in: header, schema: { $ref: '#/components/schemas/A' } }
        - { name: X-B, in: header, explode: true, schema: { $ref: '#/components/schemas/A' } }
      responses: { '200': { description: Done, content: { application/json: {} } } }
  /x/{a-b}.json:
    get:
      operationId: mixed
      parameters: [{ name: a-b, in: path, required: true, explode: true, schema: { $ref: '#/components/schemas/A' } }]
      responses: { '200': { description: Done, content: { application/json: {} } } }
components: { schemas: { A: { type: object, required: [b], properties: { b: { type: integer, format: int64 } }, additionalProperties: { type: string } } } }
`,
    asks: [
      ...accepted(path, '/c,x%2Cy,b,9007199254740993=>{"a":{"c":"x,y","b":9007199254740993}}'),
      ...accepted(path, '/x/b=7,c%3D=%3D%2C=.json=>{"a-b":{"b":7,"c=":"=,="}}'),
      ...refused(path, '/b /b,1,c /b%2C1', /path\/a must be as b,1,c,2/),
      ...refused(path, '/x/b.json /x/b=1,c.json', /path\/a-b must be as b=1,c=2/),
      ...refused(path, '/c,x /b,x /b,1,b,2 /x/c=1.json', /path\/a/),
      ask({ url: '/b,1', headers: { 'x-a': 'b, 2,c,' } }, 400, /header\/X-A must be as b,1,c,2/),
      ask(
        { url: '/b,1', headers: { 'x-a': 'b, 2', 'x-b': 'b=3, c==' } },
        200,
        '{"path":{"a":{"b":1}},"header":{"X-A":{"b":2},"X-B":{"b":3,"c":"="}}}',
      ),
    ],
  },
  'an object that is sent with commas, and has a list in it': parameter(
    'in: query\nexplode: false\nschema: { type: object, additionalProperties: { type: array } } # here',
  ),
  '`style: deepObject` in a query: an object of one level, as `a[b]=1&a[c]=x`': {
    yaml: `      parameters: [{ name: a, in: query, style: deepObject, schema: { type: object, required: [b], properties: { b: { type: integer, format: int64 }, c: { type: array, items: { type: boolean } }, d: { type: string, default: x } } } }]`,
    asks: [
      ...accepted(query, 'a[b]=9007199254740993=>{"a":{"b":9007199254740993,"d":"x"}}'),
      ...accepted(query, 'a%5Bb%5D=1&a[c]=true&a[c]=false=>{"a":{"b":1,"c":[true,false],"d":"x"}}'),
      ...accepted(query, 'a[b]=1&a[e]=5&b=7=>{"a":{"b":1,"e":"5","d":"x"}}'),
      ask('/x?b=1&a=5', 200, '{}'),
      ...refused(query, 'a[c]=true a[b]=x a[b]=1&a[c]=1', /query\/a/),
      ...refused(
        query,
        'a[b]=1&a[b]=1 a[b]=1&a[e]=1&a[e]=1',
        /query\/a\/[be] must not be repeated/,
      ),
      ...refused(query, 'a[b][c]=1 a[b]=1&a[__proto__]=1', /query\/a must not have the property/),
    ],
  },
  '`style: deepObject` of an object without described properties': {
    yaml: `      parameters:
        - { name: a, in: query, style: deepObject, schema: { type: object, additionalProperties: { type: integer, format: int64 }, maxProperties: 2 } }
        - { name: d, in: query, style: deepObject, schema: { type: object } }
        - { name: e, in: query, style: deepObject, schema: { type: [object, 'null'], additionalProperties: { type: array, items: { type: boolean } } } }`,
    asks: [
      ...accepted(query, 'a[b]=9007199254740993&a[c]=2=>{"a":{"b":9007199254740993,"c":2}}'),
      ...accepted(query, 'd[b]=1&d[constructor]=x=>{"d":{"b":"1","constructor":"x"}}'),
      ...accepted(query, 'e[b]=true&e[b]=false=>{"e":{"b":[true,false]}}'),
      ...refused(query, 'a[b]=x a[b]=1&a[c]=2&a[d]=3 d[b]=1&d[b]=2', /query\/[ad]/),
      ...refused(query, 'd[b][c]=1 d[__proto__]=1', /query\/d must not have the property/),
    ],
  },
  '`style: deepObject` of another type than object, or of an object with an object or a list of lists in it':
    parameter(
      'in: query\nschema: { type: object, properties: { a: { type: object } } } # here\nstyle: deepObject',
    ),
  'other styles than these': parameter(
    'in: query\nschema: { type: array }\nstyle: pipeDelimited # here',
  ),
  '`allowReserved`: characters of URIs may be sent as they are, or encoded': {
    yaml: '      parameters: [{ name: a, in: query, allowReserved: true, schema: { type: string } }]',
    asks: accepted(query, 'a=/x?y:@!$;=>{"a":"/x?y:@!$;"} a=%2Fx=>{"a":"/x"}'),
  },
  '`allowEmptyValue` in a query: an empty string that the schema refuses is as if it had not been sent':
    {
      yaml: `      parameters:
        - { name: a, in: query, allowEmptyValue: true, schema: { type: integer, default: 7 } }
        - { name: b, in: query, allowEmptyValue: true, schema: { type: string } }
        - { name: c, in: query, allowEmptyValue: true, schema: { type: array, items: { type: boolean } } }
        - { name: d, in: query, allowEmptyValue: false, schema: { type: integer } }`,
      asks: [
        ask('/x?a=&b=&c=', 200, '{"query":{"b":"","a":7}}'),
        ask('/x?a&b', 200, '{"query":{"b":"","a":7}}'),
        ask('/x?a=1&c=true', 200, '{"query":{"a":1,"c":[true]}}'),
        ask('/x?d=', 400, /query\/d must be an integer/),
        ask('/x?a=x', 400, /query\/a must be an integer/),
        ask('/x?a=&a=', 400),
      ],
    },
  '`content` of `application/json` in the place of `schema`': {
    yaml: `      parameters:
        - { name: a, in: query, content: { application/json: { schema: { type: object, additionalProperties: { type: integer, format: int64 } } } } }
        - { name: X-B, in: header, content: { application/json: { schema: { type: array, items: { type: object } } } } }`,
    asks: [
      ...accepted(query, 'a={%22b%22:9007199254740993}=>{"a":{"b":9007199254740993}}'),
      ask({ url: '/x', headers: { 'x-b': '[{"c":[1]}]' } }, 200, '{"header":{"X-B":[{"c":[1]}]}}'),
      ...refused(query, 'a= a={ a=b', /query\/a must be JSON/),
      ...refused(query, `a=${'['.repeat(101)}${']'.repeat(101)}`, /nested more than 100 levels/),
      ...refused(query, 'a={}&a={}', /query\/a must not be repeated/),
      ...refused(query, 'a=[] a={%22b%22:%221%22}', /query\/a/),
    ],
  },
  '`content` of another media type, or of several': parameter(
    'in: query\ncontent: { text/plain: { schema: { type: string } } } # here',
  ),
  '`default` of a parameter': {
    yaml: `      parameters: [{ name: a, in: query, schema: { $ref: '#/components/schemas/Limit' } }, { name: b, in: query, schema: { type: array, items: { type: string }, default: [x] } }]\n      responses: { '200': { description: Done, content: { application/json: {} } } }\ncomponents: { schemas: { Limit: { type: integer, format: int64, default: 20 } } }`,
    asks: [
      ask('/x', 200, '{"query":{"a":20,"b":["x"]}}'),
      ask('/x?a=1&b=y', 200, '{"query":{"a":1,"b":["y"]}}'),
    ],
  },
  'a `default` of a parameter refused by its schema': {
    yaml: '      parameters: [{ name: a, in: query, schema: { type: integer, default: x } }]',
    asks: [ask('/x', 200, '{}'), ask('/x?a=7', 200, '{"query":{"a":7}}'), ask('/x?a=x', 400)],
  },
  'parameters and properties named `constructor`, `toString`, `hasOwnProperty`': {
    yaml: `      parameters: [{ name: constructor, in: query, schema: { type: string } }, { name: toString, in: query, required: true, schema: { type: string } }]`,
    asks: [
      ask('/x?toString=a', 200, '{"query":{"toString":"a"}}'),
      ask('/x', 400, /required property 'toString'/),
    ],
  },
  'a parameter named `__proto__`':
    '      parameters:\n        - in: query\n          name: __proto__ # here\n          schema: { type: string }',
}
