// Contracts for the lines of SERVED.md about documents, paths and operations, with requests and their expected answers.
import { accepted, ask, json, path, refused } from '../../../../test/support/contracts/exchanges.ts'
import { type Constructs } from '../../../../test/support/contracts/serve-contract.ts'

const OPERATION =
  "operationId: run, responses: { '200': { description: Done, content: { application/json: {} } } }"
const PATHS = `paths:\n  /x: { get: { ${OPERATION} } }\n`

const OF_30 = `openapi: 3.0.3
info: { title: Small, version: '1' }
paths:
  /x:
    post:
      operationId: run
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Person' } } } }
      responses: { '200': { description: Done, content: { application/json: {} } } }
components:
  schemas:
    Name: { type: string }
    Person:
      type: object
      properties:
        age: { type: integer, minimum: 0, exclusiveMinimum: true }
        name: { type: string, nullable: true, example: Ann }
        friend: { $ref: '#/components/schemas/Name', nullable: true }
        born: { type: integer, format: int64 }
`

/** Constructs of documents, paths and operations, by their names in SERVED.md. */
export const DOCUMENTS: Constructs = {
  '`openapi: 3.1.0` and later patches': {
    yaml: `openapi: 3.1.1\ninfo: { title: Small, version: '1' }\n${PATHS}`,
    asks: [ask('/x', 200, '{}')],
  },
  '`openapi: 3.0.3`: read as 3.1, and served at `/openapi.yaml` as it was written': {
    yaml: OF_30,
    asks: [
      ask(json('{"age":1,"name":null,"friend":null,"born":9007199254740993}'), 200),
      ask(json('{"age":0}'), 400),
      ask(json('{"name":7}'), 400),
      ask(json('{"friend":7}'), 400),
    ],
  },
  '`openapi: 3.2.0`, `swagger: "2.0"`': `openapi: 3.2.0 # here\ninfo: { title: Small, version: '1' }\n${PATHS}`,
  '`jsonSchemaDialect` and `$schema` of another dialect than 2020-12': `${PATHS}jsonSchemaDialect: http://json-schema.org/draft-07/schema # here\n`,
  '`$ref` to another file, percent-encoded as in a URI': {
    yaml: `paths:\n  /x: { $ref: 'paths.yaml#/x' }\n  /y: { get: { operationId: y, parameters: [{ $ref: 'p%61ths.yaml#/limit' }, { $ref: 'paths.yaml#/page' }], responses: { $ref: 'paths.yaml#/y' } } }\n`,
    files: {
      'paths.yaml': `x: { get: { ${OPERATION} } }\nlimit: { name: limit, in: query, schema: { $ref: 'schemas.yaml#/Limit' } }\npage: { name: page, in: query, schema: { $ref: 'schemas.yaml#/Page' } }\ny: { '200': { description: Done, content: { application/json: {} } } }\n`,
      'schemas.yaml':
        "Limit: { type: integer, format: int64, maximum: 9223372036854775806 }\nPage: { $ref: '#/Limit', maximum: 7 }\n",
    },
    asks: [
      ask('/x', 200, '{}'),
      ask('/y?limit=9223372036854775806', 200, '{"query":{"limit":9223372036854775806}}'),
      ask('/y?page=7', 200, '{"query":{"page":7}}'),
      ...['/y?limit=9223372036854775807', '/y?page=8'].map((url) => ask(url, 400)),
    ],
  },
  'a path that refers to another, with methods and parameters beside `$ref`': {
    yaml: `paths:\n  /x: { get: { ${OPERATION} }, put: { ${OPERATION.replace('run', 'put')} } }\n  /y:\n    $ref: '#/components/pathItems/y'\n    put: { ${OPERATION.replace('run', 'yPut')} }\ncomponents: { pathItems: { y: { get: { ${OPERATION.replace('run', 'y')} }, put: { ${OPERATION.replace('run', 'never')} } } } }\n`,
    run: async () => ({ status: 200, body: 1 }),
    asks: [ask('/y', 200), ask({ method: 'PUT', url: '/y' }, 200)],
  },
  '`$ref` to a URL': `paths:\n  /x:\n    $ref: https://example.com/x.yaml # here\n`,
  'a `$ref` leading nowhere': `paths:\n  /x:\n    $ref: '#/components/pathItems/x' # here\n`,
  'YAML anchors, aliases and merge keys': {
    yaml: `paths:\n  /x: { get: &run { ${OPERATION} } }\n  /y: { get: { <<: *run, operationId: y } }\nx-all: [${'*run, '.repeat(999)}]\n`,
    asks: [ask('/x', 200), ask('/y', 200)],
  },
  'keys that YAML takes for numbers, booleans or null: as they are written': {
    yaml: `paths:\n  /x: { post: { operationId: run, requestBody: { content: { application/json: { x-body-limit: 99, schema: { properties: { 1.10: { type: string }, null: { type: string } } } } } }, responses: { 200: { description: Done, content: { application/json: {} } } } } }\n`,
    asks: [
      ...accepted(json, '{"1.10":"a","null":"b","1.1":1}'),
      ...refused(json, '{"1.10":1} {"null":1}', /body/),
    ],
  },
  'a key that is a list or an object': `${PATHS}x-a: { [a]: 1 } # here\n`,
  'a key that stands twice, also if only one of them has quotes': `${PATHS}x-a: { 200: 1, '200': 1 } # here\n`,
  'an unknown field, perhaps misspelt': `paths:\n  /x:\n    get:\n      operationID: run # here\n      responses: { '204': { description: Done } }\n`,
  'an unknown field in `info`, `tags`, `webhooks`, `callbacks` and others for people and clients only':
    {
      yaml: `openapi: 3.1.0\ninfo: { title: Small, version: '1', deprecated: true }\ndeprecated: true\n${PATHS}`,
      asks: [ask('/x', 200)],
    },
  'a field that OpenAPI has nowhere, or has there only for another type of security scheme': {
    yaml: `swagger: { version: 3 }\npaths:\n  /x: { get: { author: me, security: [{ b: [] }], ${OPERATION} } }\ncomponents: { securitySchemes: { b: { type: apiKey, in: header, name: X-Key, scheme: bearer } } }\n`,
    product: { guards: { b: async () => ({ caller: 'alice', scopes: [] }) } },
    asks: [
      ask({ url: '/x', headers: { 'x-key': '7' } }, 200, /"caller":"#b#alice"/),
      ask('/x', 401),
    ],
  },
  'a field that OpenAPI or Swagger has elsewhere, or a keyword of a schema': `paths:\n  /x:\n    get:\n      produces: [text/plain] # here\n      operationId: run\n      responses: { '204': { description: Done } }\n`,
  'descriptions and examples for people, of another type or missing': {
    yaml: `openapi: 3.1.0\ninfo: { title: 7 }\npaths:\n  /x: { get: { summary: 7, parameters: [{ name: a, in: query, examples: [{ id: 1 }], schema: { title: 7, description: 7, type: integer } }], operationId: run, responses: { '200': { description: 200, content: { application/json: { examples: { a: { id: 1 } } } } } } } }\n`,
    asks: [ask('/x?a=7', 200, '{"query":{"a":7}}')],
  },
  'a property that is empty in YAML, as `parameters:`': {
    yaml: `servers:\npaths:\n  /x:\n    post:\n      operationId: run\n      parameters:\n      requestBody: { content: { application/json: { schema: { type: object, required: , additionalProperties: false, properties: { a: , b: { enum: [null] } } } } } }\n      responses: { '200': { description: , content: { application/json: } } }\n`,
    asks: [
      ...accepted(json, '{"a":1} {"a":"x","b":null}'),
      ...refused(json, '{"b":1} {"c":1}', /body/),
    ],
  },
  'a missing list of scopes in `security`': {
    yaml: `paths:\n  /x: { get: { security: [{ b: }], ${OPERATION} } }\ncomponents: { securitySchemes: { b: { type: apiKey, in: header, name: X-Key } } }\n`,
    product: { guards: { b: async () => ({ caller: 'alice', scopes: [] }) } },
    asks: [ask({ url: '/x', headers: { 'x-key': '7' } }, 200, /alice/), ask('/x', 401)],
  },
  'extensions: `x-...`, with a `$ref`, too': {
    yaml: `x-a: { $ref: '#/nowhere' }\nx-tagGroups: 7\n${PATHS}  x-b: { $ref: nowhere.yaml }\n`,
    asks: [ask('/x', 200)],
  },
  '`x-internal: true` in a schema of `components`: it may be the schema of a collection, and is not in `/openapi.yaml`':
    {
      yaml: `${PATHS}components: { schemas: { A: { x-internal: true, type: string } } }\n`,
      product: { collections: { kept: { schema: 'A', key: 'int64' } } },
      asks: [ask('/x', 200), ask('/openapi.yaml', 200, /^((?!x-internal)[^])*$/)],
    },
  'a published part that refers to such a schema': `${PATHS}  /y:
    get:
      operationId: y
      responses:
        '200':
          description: Done
          content:
            application/json:
              schema:
                $ref: '#/components/schemas/A' # here
components: { schemas: { A: { x-internal: true, type: string } } }
`,
  '`servers` with a path: `{base_url}/v1`, `https://example.com/v1`': {
    yaml: `servers: [{ url: '{at}', variables: { at: { default: 'https://example.com/v1' } } }, { url: '{base_url}/v1/', variables: { base_url: { default: . } } }]\n${PATHS}`,
    asks: [ask('/v1/x', 200), ask('/x', 404)],
  },
  '`servers` with different paths: only that of the first': {
    yaml: `servers: [{ url: https://example.com/v1 }, { url: https://example.com/v2 }]\n${PATHS}`,
    asks: [ask('/v1/x', 200), ask('/v2/x', 404)],
  },
  '`servers` with variables in the path': {
    yaml: `servers: [{ url: 'https://{host}/api/{version}', variables: { host: { default: a }, version: { default: v7 } } }]\n${PATHS}`,
    asks: [ask('/api/v7/x', 200)],
  },
  '`servers` with an address that is none, or a variable that is not described: the path that can be read':
    {
      yaml: `servers: [{ url: api.example.com/v2 }]\npaths:\n  /x:\n    servers: [{ url: 'https://{host}/{at}/v1' }]\n    get: { ${OPERATION} }\n  /y: { get: { ${OPERATION.replace('run', 'y')} } }\n  /z: { get: { servers: [{ url: 'http//host:80/a b/v3' }], ${OPERATION.replace('run', 'z')} } }\n`,
      asks: [ask('/api.example.com/v2/y', 200), ask('/v1/x', 200), ask('/http/host:80/v3/z', 200)],
    },
  '`servers` of a path or an operation': {
    yaml: `servers: [{ url: /v1 }]\npaths:\n  /x:\n    servers: [{ url: 'https://other.example.com/v2' }]\n    get: { ${OPERATION} }\n  /y: { get: { servers: [{ url: / }], ${OPERATION.replace('run', 'y')} } }\n`,
    asks: [ask('/v2/x', 200), ask('/v1/x', 404), ask('/y', 200)],
  },
  '`webhooks`, `callbacks`, `links`, `tags`, `externalDocs`, `examples`, `deprecated`': {
    yaml: `paths:\n  /x: { get: { deprecated: true, callbacks: { on: { '{$url}': { post: { responses: { '204': { description: Done } } } } } }, ${OPERATION} } }\nwebhooks: { on: { post: { operationId: on, responses: { '204': { description: Done } } } } }\n`,
    asks: [ask('/x', 200)],
  },
  '`get`, `put`, `post`, `delete`, `patch`': {
    yaml: `paths:\n  /x:\n${['get', 'put', 'post', 'delete', 'patch'].map((method) => `    ${method}: { ${OPERATION.replace('run', method)} }\n`).join('')}`,
    asks: (['GET', 'PUT', 'POST', 'DELETE', 'PATCH'] as const).map((method) => [
      { method, url: '/x' },
      200,
    ]),
  },
  '`head`: a method of its own, whose answers have no body. Without it, HEAD works where GET does':
    {
      yaml: `paths:\n  /x:\n    get: { ${OPERATION} }\n    head: { operationId: head, responses: { '200': { description: Done, headers: { X-Size: { schema: { type: integer } } }, content: { application/json: {} } }, '404': { description: Not } } }\n  /y:\n    head: { operationId: exists, responses: { '204': { description: Done } } }\n  /z:\n    get: { ${OPERATION.replace('run', 'z')} }\n`,
      run: async (_, name) => {
        if (name === 'head') return { status: 200, headers: { 'X-Size': 7 } }
        return name === 'exists' ? { status: 204 } : { status: 200, body: name }
      },
      asks: [
        ask('/x', 200, '"run"'),
        ask({ method: 'HEAD', url: '/x' }, 200, ''),
        ask({ method: 'HEAD', url: '/y' }, 204, ''),
        ask('/y', 405),
        ask({ method: 'HEAD', url: '/z' }, 200, ''),
      ],
    },
  '`options`: a method of its own. Without it, OPTIONS answers 204 with `Allow`': {
    yaml: `paths:\n  /x/{id}:\n    get: { ${OPERATION} }\n    options: { operationId: ask, responses: { '200': { description: Done, headers: { Access-Control-Allow-Origin: { schema: { type: string } } }, content: {} } } }\n  /y: { get: { ${OPERATION.replace('run', 'y')} } }\n  /z: { options: { ${OPERATION.replace('run', 'z')} } }\n`,
    run: async (_, name) =>
      name === 'ask'
        ? { status: 200, headers: { 'Access-Control-Allow-Origin': '*' } }
        : { status: 200, body: name },
    asks: [
      ask({ method: 'OPTIONS', url: '/x/7' }, 200, ''),
      ask({ method: 'OPTIONS', url: '/y' }, 204, ''),
      ask({ method: 'OPTIONS', url: '/z' }, 200, '"z"'),
      ask({ method: 'DELETE', url: '/z' }, 405),
      ask('/x/7', 200, '"run"'),
    ],
  },
  '`trace`': `paths:\n  /x:\n    trace: { ${OPERATION} } # here\n`,
  'a path of plain segments and `{parameters}`, whatever their names': {
    yaml: `paths:\n  /a:b/{plant-id}/$x: { get: { parameters: [{ name: plant-id, in: path, required: true, schema: { type: string } }], ${OPERATION} } }\n  /: { get: { ${OPERATION.replace('run', 'root')} } }\n  /{a-b}/{a_b}/{a.b}/{a_45_b}: { get: { parameters: [${['a-b', 'a_b', 'a.b', 'a_45_b'].map((name) => `{ name: ${name}, in: path, required: true, schema: { type: string } }`).join()}], ${OPERATION.replace('run', 'four')} } }\n`,
    asks: [
      ...accepted(
        path,
        '/a:b/c%2Fd/$x=>{"plant-id":"c/d"} /1/2/3/4=>{"a-b":"1","a_b":"2","a.b":"3","a_45_b":"4"}',
      ),
      ask('/', 200),
    ],
  },
  'parameters in a part of a segment: `/{id}.json`, `/{owner}:archive`, `/{a}-{b}`; it is split at the other characters before it is decoded':
    {
      yaml: `paths:\n${[
        ['/{id}.json', 'id'],
        ['/{id}', 'id'],
        ['/me.json'],
        ['/{id}.gz', 'id'],
        ['/{id}.tar.gz', 'id'],
        ['/{id}:archive', 'id'],
        ['/near/{lat}-{l-n.g}', 'lat', 'l-n.g'],
        ["/Things('{id}')/v{v}", 'id', 'v'],
      ]
        .map(([path = '', ...names], index) => {
          const type = path.includes('near') ? 'number' : 'string'
          const parameters = names.map(
            (name) => `{ name: ${name}, in: path, required: true, schema: { type: ${type} } }`,
          )
          return `  "${path}": { get: { parameters: [${parameters.join()}], ${OPERATION.replace('run', `run${index}`)} } }\n`
        })
        .join('')}`,
      asks: [
        ...accepted(
          path,
          String.raw`/a.json=>{"id":"a"} /a.b%2Ejson.json=>{"id":"a.b.json"} /a%2Fb%0A.json=>{"id":"a/b\n"}
        /.json=>{"id":".json"} /a.jsonl=>{"id":"a.jsonl"} /a.tar.gz=>{"id":"a"} /a:archive=>{"id":"a"}
        /near/-1.5--2=>{"lat":-1.5,"l-n.g":-2} /Things('a''b')/v2=>{"id":"a''b","v":"2"}
        /a%3Aarchive=>{"id":"a:archive"} /a%3aarchive=>{"id":"a:archive"} /a:%61rchive=>{"id":"a:archive"}
        /b%3A:archive=>{"id":"b:"} /a%2Etar.gz=>{"id":"a.tar"} /a%2Ejson=>{"id":"a.json"}
        /near/%2D1-2=>{"lat":-1,"l-n.g":2} /a%2525.json?x=.gz=>{"id":"a%25"}`,
        ),
        ...['/near/-', "/Things('')/v2", "/Things('a')/v", '/near/1%2D2', '/near/1%2d2'].map(
          (url) => ask(url, 404),
        ),
        ask({ method: 'PUT', url: '/a%3Aarchive' }, 405),
        ask({ method: 'PUT', url: '/near/1' }, 404),
        ask({ method: 'HEAD', url: '/near/1-2' }, 200),
        ask('/me.json', 200, '{}'),
        ask('/near/1-2-3', 400, /path\/l-n.g must be a number/),
        ask({ method: 'PUT', url: '/me.json' }, 405),
        ask({ method: 'OPTIONS', url: '/a.json' }, 204),
      ],
    },
  'a path, also one without operations, with `*`, two parameters side by side, or one parameter twice':
    'paths:\n  /{a}{b}: {} # here\n',
  'paths that differ only between the parameters of a segment: `/{a}-{b}` and `/{a}:{b}`': `paths:\n${['-', ':'].map((separator, index) => `  /{a}${separator}{b}:\n    get: { parameters: [{ name: a, in: path, required: true, schema: { type: string } }, { name: b, in: path, required: true, schema: { type: string } }], ${OPERATION.replace('run', `run${index}`)} }${index === 1 ? ' # here' : ''}\n`).join('')}`,
  'paths that differ only in the names of parameters, with different methods': {
    yaml: `paths:\n${(
      [
        ['a', 'get'],
        ['b', 'put'],
      ] as const
    )
      .map(
        ([name, method]) =>
          `  /x/{${name}}/y: { ${method}: { parameters: [{ name: ${name}, in: path, required: true, schema: { type: string } }], ${OPERATION.replace('run', method)} } }\n`,
      )
      .join('')}`,
    asks: [
      ask('/x/1/y', 200, '{"path":{"a":"1"}}'),
      ask({ method: 'PUT', url: '/x/1/y' }, 200, '{"path":{"b":"1"}}'),
      ask({ method: 'HEAD', url: '/x/1/y' }, 200),
      ask({ method: 'DELETE', url: '/x/1/y' }, 405),
    ],
  },
  'paths that differ only in the names of parameters, with one method': `paths:\n  /{a}: { get: { parameters: [{ name: a, in: path, required: true, schema: { type: string } }], ${OPERATION} } }\n  /{b}:\n    get: # here\n      { parameters: [{ name: b, in: path, required: true, schema: { type: string } }], ${OPERATION.replace('run', 'put')} }\n`,
  'the paths `/openapi.yaml` and `/docs`': `paths:\n  /docs: # here\n    get: { ${OPERATION} }\n`,
  'an operation without `operationId`': {
    yaml: `paths:\n  /x/y-z/{id}:\n    get: { parameters: [{ name: id, in: path, required: true, schema: true }], responses: { '204': { description: Done } } }\n`,
    methods: ['getXYZId'],
    run: async () => ({ status: 204 }),
    asks: [ask('/x/y-z/7', 204)],
  },
  'an empty `operationId`: as without one': {
    yaml: `paths:\n  /x: { get: { operationId: '', responses: { '204': { description: Done } } } }\n`,
    methods: ['getX'],
    run: async () => ({ status: 204 }),
    asks: [ask('/x', 204)],
  },
  'an `operationId` with invisible characters, as the end of a line': `paths:\n  /x:\n    get:\n      operationId: "run\\u2028now" # here\n      responses: { '204': { description: Done } }\n`,
  'an operation without `responses`': {
    yaml: `paths:\n  /x: { get: { operationId: run } }\n`,
    run: async () => ({ status: 204 }),
    asks: [ask('/x', 204)],
  },
  '`summary` and `description` beside a `$ref`': {
    yaml: `paths:\n  /x: { get: { operationId: run, responses: { '200': { $ref: '#/components/responses/x', summary: a, description: b } } } }\ncomponents: { responses: { x: { description: Done, content: { application/json: {} } } } }\n`,
    asks: [ask('/x', 200)],
  },
  'a second operation with an `operationId`: its method has the name of one without': {
    yaml: `paths:\n  /x: { get: { ${OPERATION} } }\n  /y: { get: { operationId: run, responses: { '204': { description: Done } } } }\n`,
    methods: ['run', 'getY'],
    run: async (_, name) => (name === 'run' ? { status: 200, body: name } : { status: 204 }),
    asks: [ask('/x', 200, '"run"'), ask('/y', 204)],
  },
  'an undescribed `{parameter}` of a path: a string': {
    yaml: `paths:\n  /x/{a}:\n    get: { ${OPERATION} }\n`,
    asks: accepted(path, '/x/7=>{"a":"7"}'),
  },
  'a parameter missing in the path: it is left out': {
    yaml: `paths:\n  /x:\n    get: { parameters: [{ name: a, in: path, required: true, schema: { type: integer } }], ${OPERATION} }\n`,
    asks: [ask('/x', 200, '{}')],
  },
  'an undescribed `{parameter}` of a path, beside a described one missing in the path': `paths:\n  /x/{id}:\n    get: { parameters: [{ name: ID, in: path, required: true, schema: { type: integer } }], ${OPERATION} } # here\n`,
  'two parameters of one name and place': `      parameters:\n        - { name: a, in: query, schema: { type: string } }\n        - { name: a, in: query, schema: { type: string } } # here`,
}
