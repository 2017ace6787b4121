// Contracts as the frameworks of small teams write them, one or two for each framework.

/** A response of JSON by the name of its schema. */
const json = (schema: string, description = 'Successful Response') =>
  `{ description: ${description}, content: { application/json: { schema: { $ref: '#/components/schemas/${schema}' } } } }`
const list = (schema: string) =>
  `{ description: OK, content: { application/json: { schema: { type: array, items: { $ref: '#/components/schemas/${schema}' } } } } }`
const any = (schema: string) =>
  `{ description: OK, content: { '*/*': { schema: { $ref: '#/components/schemas/${schema}' } } } }`
const path = (name: string, schema: string) =>
  `{ name: ${name}, in: path, required: true, schema: ${schema} }`
const body = (schema: string) =>
  `{ required: true, content: { application/json: { schema: { $ref: '#/components/schemas/${schema}' } } } }`
/** The three media types that ASP.NET lists. */
const asp = (schema: string) =>
  `{ description: OK, content: { ${['text/plain', 'application/json', 'text/json']
    .map((type) => `${type}: { schema: { $ref: '#/components/schemas/${schema}' } }`)
    .join(', ')} } }`

export const SMALL_TEAMS: Readonly<Record<string, string>> = {
  'FastAPI: items': `paths:
  /items/{item_id}:
    get:
      operationId: read_item_items__item_id__get
      parameters: [${path('item_id', '{ type: integer }')}, { name: q, in: query, required: false, schema: { anyOf: [{ type: string }, { type: 'null' }] } }]
      responses: { '200': ${json('Item')}, '422': ${json('HTTPValidationError', 'Validation Error')} }
  /items/:
    post:
      operationId: create_item_items__post
      requestBody: ${body('Item')}
      responses: { '201': ${json('Item')}, '422': ${json('HTTPValidationError', 'Validation Error')} }
  /health:
    get: { operationId: health_health_get, responses: { '200': { description: OK, content: { application/json: { schema: {} } } } } }
components:
  schemas:
    Item:
      type: object
      required: [name, price, tags]
      properties:
        name: { type: string, maxLength: 50 }
        description: { anyOf: [{ type: string, maxLength: 300 }, { type: 'null' }] }
        price: { anyOf: [{ type: number, exclusiveMinimum: 0 }, { type: string, pattern: '^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$' }] }
        tags: { type: array, uniqueItems: true, minItems: 2, items: { type: string } }
        owner: { anyOf: [{ $ref: '#/components/schemas/Item' }, { type: 'null' }] }
    ValidationError: { type: object, required: [loc, msg, type], properties: { loc: { type: array, items: { anyOf: [{ type: string }, { type: integer }] } }, msg: { type: string }, type: { type: string } } }
    HTTPValidationError: { type: object, properties: { detail: { type: array, items: { $ref: '#/components/schemas/ValidationError' } } } }
`,
  'FastAPI: a login by a form': `paths:
  /token:
    post:
      operationId: login_token_post
      requestBody: { required: true, content: { application/x-www-form-urlencoded: { schema: { type: object, required: [username, password], properties: { grant_type: { anyOf: [{ type: string, pattern: '^password$' }, { type: 'null' }] }, username: { type: string }, password: { type: string, format: password } } } } } }
      responses: { '200': ${json('Token')} }
  /jobs:
    get:
      operationId: list_jobs_jobs_get
      responses: { '200': { description: OK, content: { application/json: { schema: { type: object, additionalProperties: { $ref: '#/components/schemas/Status' } } } } } }
components:
  schemas:
    Token: { type: object, required: [access_token], properties: { access_token: { type: string }, token_type: { const: bearer, default: bearer }, expires: { type: string, format: duration } } }
    Status: { type: string, enum: [queued, running, done] }
`,
  'NestJS: cats': `paths:
  /cats:
    post:
      operationId: CatsController_create
      parameters: []
      requestBody: ${body('CreateCatDto')}
      responses: { '201': { description: '' }, '403': { description: Forbidden. } }
    get:
      operationId: CatsController_findAll
      responses: { default: { description: Cats, content: { application/json: { schema: { allOf: [{ $ref: '#/components/schemas/Page' }, { properties: { results: { type: array, items: { $ref: '#/components/schemas/Cat' } } } }] } } } } }
  /cats/{id}:
    get: { operationId: CatsController_findOne, parameters: [${path('id', '{ type: string }')}], responses: { '200': ${json('Cat')} } }
  /cats/{id}/picture:
    post:
      operationId: CatsController_upload
      parameters: [${path('id', '{ type: string }')}]
      requestBody: { required: true, content: { multipart/form-data: { schema: { type: object, properties: { file: { type: string, format: binary } } } } } }
      responses: { '201': { description: '', content: { application/json: { schema: { type: string } } } } }
components:
  schemas:
    CreateCatDto: { type: object, required: [name, age], properties: { name: { type: string, example: Tom }, age: { type: number, minimum: 0 } } }
    Cat: { allOf: [{ $ref: '#/components/schemas/CreateCatDto' }, { type: object, required: [id], properties: { id: { type: string, format: uuid }, kind: { type: string, enum: [tabby, siamese] } } }] }
    Page: { type: object, required: [total], properties: { total: { type: number }, limit: { type: number, multipleOf: 5 } } }
`,
  'springdoc: owners': `paths:
  /owners:
    get:
      operationId: listOwners
      parameters: [{ name: lastName, in: query, schema: { type: string } }]
      responses: { '200': { description: OK, content: { '*/*': { schema: { type: array, items: { $ref: '#/components/schemas/Owner' } } } } } }
    post:
      operationId: addOwner
      requestBody: ${body('Owner')}
      responses: { '201': { description: Created, headers: { Location: { required: true, schema: { type: string, format: uri } }, X-Version: { required: true, schema: { type: integer, format: int64 } } }, content: { '*/*': { schema: { $ref: '#/components/schemas/Owner' } } } } }
  /owners/{ownerId}:
    get: { operationId: getOwner, parameters: [${path('ownerId', '{ type: integer, format: int64 }')}], responses: { '200': ${any('Owner')}, '404': ${any('Problem')} } }
    delete: { operationId: deleteOwner, parameters: [${path('ownerId', '{ type: integer, format: int64 }')}], responses: { '204': { description: No Content } } }
  /owners/{ownerId}/photo:
    get: { operationId: getPhoto, parameters: [${path('ownerId', '{ type: integer, format: int64 }')}], responses: { '200': { description: OK, content: { '*/*': { schema: { type: string, format: byte } } } } } }
  /owners/count:
    get: { operationId: countOwners, responses: { '200': { description: OK, content: { '*/*': { schema: { type: integer, format: int64 } } } } } }
components:
  schemas:
    Owner: { type: object, required: [firstName], properties: { id: { type: integer, format: int64, readOnly: true }, firstName: { type: string, minLength: 1, maxLength: 30, example: George }, telephone: { type: string, pattern: '^[0-9]{10}$', example: '6085551023' }, pets: { type: array, items: { $ref: '#/components/schemas/Pet' } } } }
    Pet: { type: object, properties: { id: { type: integer, format: int64 }, birthDate: { type: string, format: date }, owner: { $ref: '#/components/schemas/Owner' } } }
    Problem: { type: object, properties: { type: { type: string, format: uri }, status: { type: integer, format: int32 }, properties: { type: object, additionalProperties: { type: object } } } }
`,
  'Swashbuckle: weather': `openapi: 3.0.1
info: { title: Weather, version: v1 }
paths:
  /WeatherForecast:
    get: { tags: [WeatherForecast], responses: { '200': { description: OK, content: { text/plain: { schema: { type: array, items: { $ref: '#/components/schemas/WeatherForecast' } } }, application/json: { schema: { type: array, items: { $ref: '#/components/schemas/WeatherForecast' } } } } } } }
    post:
      requestBody: ${body('WeatherForecast')}
      responses: { '200': ${asp('WeatherForecast')}, '400': ${asp('ProblemDetails')} }
  /WeatherForecast/{class}/{id}:
    get:
      parameters: [${path('class', '{ type: string }')}, ${path('id', '{ type: integer, format: int64 }')}]
      responses: { '200': ${asp('WeatherForecast')} }
components:
  schemas:
    WeatherForecast: { type: object, properties: { date: { type: string, format: date }, temperatureC: { type: integer, format: int32 }, station: { type: integer, format: int64 }, summary: { type: string, nullable: true }, price: { type: number, format: double } }, additionalProperties: false }
    ProblemDetails: { type: object, properties: { type: { type: string, nullable: true }, status: { type: integer, format: int32, nullable: true } }, additionalProperties: {} }
`,
  'Swashbuckle: shapes': `openapi: 3.0.1
info: { title: Shapes, version: v1 }
paths:
  /shapes:
    get: { operationId: GetShapes, responses: { '200': { description: OK, content: { application/json: { schema: { type: array, items: { oneOf: [{ $ref: '#/components/schemas/Circle' }, { $ref: '#/components/schemas/Square' }], discriminator: { propertyName: $type } } } } } } } }
components:
  schemas:
    Shape: { required: [$type], type: object, properties: { $type: { type: string }, span: { type: string, format: date-span } } }
    Circle: { allOf: [{ $ref: '#/components/schemas/Shape' }, { required: [radius], type: object, properties: { $type: { enum: [circle] }, radius: { type: number, format: double } } }] }
    Square: { allOf: [{ $ref: '#/components/schemas/Shape' }, { required: [side], type: object, properties: { $type: { enum: [square] }, side: { type: integer, format: int64 } } }] }
`,
  'Huma: notes': `paths:
  /notes/{id}:
    get:
      operationId: get-note
      parameters: [${path('id', '{ type: integer, format: int64, minimum: 1 }')}]
      responses:
        '200': { description: OK, headers: { ETag: { schema: { type: string } }, X-Rate-Limit: { required: true, schema: { type: integer, format: int64, minimum: 10 } } }, content: { application/json: { schema: { $ref: '#/components/schemas/Note' } } } }
        default: { description: Error, content: { application/problem+json: { schema: { $ref: '#/components/schemas/ErrorModel' } } } }
  /events:
    get:
      operationId: sse
      responses: { '200': { description: OK, content: { text/event-stream: { schema: { type: object, required: [seq], properties: { seq: { type: integer, format: int64 } } } } } } }
components:
  schemas:
    Note: { type: object, additionalProperties: false, required: [id, text], properties: { $schema: { type: string, format: uri, readOnly: true, examples: ['https://example.com/schemas/Note.json'] }, id: { type: integer, format: int64 }, text: { type: string, maxLength: 200 }, labels: { type: [array, 'null'], items: { type: string } } } }
    ErrorModel: { type: object, additionalProperties: false, properties: { title: { type: string, examples: [Bad Request] }, status: { type: integer, format: int64 }, errors: { type: [array, 'null'], items: { type: object, properties: { value: {} } } } } }
`,
  'utoipa: todos': `paths:
  /todos/{id}:
    put:
      operationId: put_todo
      parameters: [${path('id', '{ type: integer, format: int32, minimum: 0 }')}, { name: todo_apikey, in: header, required: true, schema: { type: string } }]
      requestBody: ${body('Todo')}
      responses: { '200': ${json('Todo')}, '404': ${json('TodoError')} }
components:
  schemas:
    Todo: { type: object, required: [id, value, done], properties: { id: { type: integer, format: int32, minimum: 0 }, value: { type: string }, done: { type: boolean }, size: { type: integer, format: uint64, minimum: 0 } } }
    TodoError: { oneOf: [{ type: object, required: [NotFound], properties: { NotFound: { type: string } } }, { type: string, enum: [Unauthorized] }] }
`,
  'goa: names that are no identifiers': `paths:
  /get-things/{thing-id}:
    get: { operationId: get-things, parameters: [${path('thing-id', '{ type: string, pattern: "^[A-Z]{2}[0-9]{4}$" }')}], responses: { '200': ${json('Thing')} } }
    delete: { operationId: 52c3c8d7, parameters: [${path('thing-id', '{ type: string }')}], responses: { '200': ${json('Thing')} } }
  /things/{class}:
    get: { operationId: class, parameters: [${path('class', '{ type: string }')}], responses: { '200': ${list('Thing')} } }
  /things/{body}/{query}:
    post: { operationId: 'things.add', parameters: [${path('body', '{ type: string }')}, ${path('query', '{ type: string }')}], responses: { '200': ${json('Thing')} } }
components:
  schemas:
    Thing: { type: object, required: [kebab-name], properties: { kebab-name: { type: string }, 2nd: { type: integer }, class: { type: string, format: char } } }
`,
  'tsoa: records': `paths:
  /users/{userId}:
    get:
      operationId: GetUser
      parameters: [${path('userId', '{ type: number, format: double }')}]
      responses: { '200': { description: Ok, content: { application/json: { schema: { $ref: '#/components/schemas/User' }, examples: { 'Example 1': { value: { id: 52907745, email: a@b.c, phoneNumbers: [], nick: none } } } } } } }
components:
  schemas:
    User: { type: object, required: [id, email, phoneNumbers], additionalProperties: true, properties: { id: { type: integer, format: int64 }, email: { type: string }, phoneNumbers: { type: array, items: { type: string } }, status: { type: string, enum: [Happy, Sad] } } }
`,
  'rswag: JSON:API': `paths:
  /blogs/{id}:
    get:
      parameters: [${path('id', '{ type: string }')}]
      responses: { '200': { description: blog found, content: { application/vnd.api+json: { schema: { type: object, required: [data], properties: { data: { type: object, required: [id, type], properties: { id: { type: string }, type: { const: blogs }, attributes: { type: object, properties: { title: { type: [string, 'null'] } } } } } } } } } }, '404': { description: blog not found } }
`,
  'Scribe: examples': `paths:
  /api/posts:
    get:
      operationId: getApiPosts
      responses: { '200': { description: '', content: { application/json: { schema: { type: object, properties: { data: { type: array, items: { type: object, properties: { id: { type: integer }, body: { type: string } } }, example: [{ id: 1, body: "Two lines:\\r\\nof \\u2028 and \\u2029 text\\n" }] } } } } } } }
    post:
      operationId: postApiPosts
      requestBody: { content: { application/json: { schema: { type: object, required: [title], properties: { title: { type: string, example: 'It''s' } } } } } }
      responses: { '200': { description: '', content: { application/json: { schema: { type: object, properties: { id: { type: integer, example: 1 } } }, example: { id: one } } } } }
`,
  'drf-spectacular: accounts': `openapi: 3.0.3
info: { title: Accounts, version: 1.0.0 }
paths:
  /api/accounts/:
    get: { operationId: accounts_list, responses: { '200': ${json('PaginatedAccountList', "''")} } }
    post: { operationId: accounts_create, requestBody: ${body('Account')}, responses: { '201': ${json('Account', "''")} } }
components:
  schemas:
    Account: { type: object, required: [balance, id, secret], properties: { id: { type: integer, readOnly: true }, balance: { type: string, format: decimal, pattern: '^-?\\d{0,8}(?:\\.\\d{0,2})?$' }, secret: { type: string, writeOnly: true }, slug: { type: string, pattern: '^[-a-zA-Z0-9_]+$', maxLength: 50 }, kind: { nullable: true, oneOf: [{ $ref: '#/components/schemas/Kind' }, { $ref: '#/components/schemas/Blank' }] } } }
    Kind: { type: string, enum: [a, b] }
    Blank: { enum: [''] }
    PaginatedAccountList: { type: object, required: [count, results], properties: { count: { type: integer, example: 123 }, next: { type: string, nullable: true, format: uri, example: 'http://api.example.org/accounts/?page=4' }, results: { type: array, items: { $ref: '#/components/schemas/Account' } } } }
`,
  'connexion: ranges and default': `paths:
  /pets:
    get: { operationId: app.get_pets, responses: { 2XX: ${list('Pet')}, default: { description: Failed } } }
    put: { operationId: app.put_pet, requestBody: ${body('Pet')}, responses: { default: ${json('Pet')} } }
    head: { operationId: app.head_pets, responses: { '200': { description: OK, headers: { X-Total: { required: true, schema: { type: integer } } } } } }
    delete: { operationId: app.delete_pets, responses: { '404': { description: None } } }
components: { schemas: { Pet: { type: object, required: [id], properties: { id: { type: string, pattern: '^[a-f0-9]{8}$' }, born: { type: string, format: date-time } } } } }
`,
  'zod-openapi: unions': `paths:
  /answers:
    get:
      responses: { '200': { description: One of several, content: { application/json: { schema: { $ref: '#/components/schemas/Answer' } } } } }
components:
  schemas:
    Answer: { anyOf: [{ type: object, required: [ok, data], properties: { ok: { type: boolean, enum: [true] }, data: { type: array, prefixItems: [{ type: string }, { type: integer, format: int64 }], items: false, minItems: 2 } }, additionalProperties: false }, { type: object, required: [ok, reason], properties: { ok: { type: boolean, enum: [false] }, reason: { type: string } }, additionalProperties: false }] }
`,
  '@fastify/swagger: maps and closed objects': `paths:
  /settings:
    get: { operationId: settings, responses: { 2XX: { description: Default Response, content: { application/json: { schema: { type: object, minProperties: 1, patternProperties: { '^x-[a-z]+$': { type: integer } }, additionalProperties: false } } } } } }
    delete: { operationId: clear, responses: { '200': { description: Default Response, content: { application/json: { schema: { type: object, additionalProperties: false } } } } } }
    patch: { operationId: change, responses: { '200': { description: Default Response, content: { application/json: { schema: { type: 'null' } } } } } }
`,
  'by hand: several media types': `paths:
  /report:
    get:
      operationId: report
      responses:
        '200': { description: The report, content: { text/csv: { schema: { type: string } }, application/json: { schema: { type: object, properties: { rows: { type: integer } } } }, image/*: {} } }
        '304': { description: Not modified }
  /logo:
    get: { operationId: logo, responses: { '200': { description: Logo, content: { image/*: { schema: { type: string, format: binary } } } } } }
  /robots.txt:
    get: { operationId: robots, responses: { '200': { description: Text, content: { text/plain: { schema: { type: string, enum: ['User-agent: *'] } } } } } }
  /archive:
    get: { operationId: archive, responses: { '200': { description: Bytes, content: { application/zip: {} } } } }
  /feed:
    get: { operationId: feed, responses: { '200': { description: Feed, content: { application/rss+xml: { schema: { type: string } } } } } }
`,
  'by hand: a tree, and a value of none': `paths:
  /tree:
    get: { operationId: tree, security: [], responses: { '200': ${json('Node')} } }
    put: { operationId: plant, responses: { '200': { description: Lengths that nothing has, content: { application/json: { schema: { type: string, minLength: 2, maxLength: 1 } } } } } }
components: { schemas: { Node: { type: object, required: [name, children], properties: { name: { type: string, minLength: 150, maxLength: 150 }, children: { type: array, maxItems: 4, items: { $ref: '#/components/schemas/Node' } }, parent: { $ref: '#/components/schemas/Node' } } } } }
`,
  'by hand: credentials': `security: [{ oauth: [notes.read] }]
paths:
  /notes/{noteId}:
    get: { operationId: getNote, parameters: [${path('noteId', '{ type: string, format: uuid }')}], responses: { '200': ${json('Note')}, '404': { description: None } } }
    delete: { operationId: deleteNote, security: [{ key: [] }], parameters: [${path('noteId', '{ type: string, format: uuid }')}], responses: { '204': { description: Gone } } }
components:
  securitySchemes: { oauth: { type: oauth2, flows: { clientCredentials: { tokenUrl: 'https://example.com/token', scopes: { notes.read: Read } } } }, key: { type: apiKey, in: header, name: X-Key } }
  schemas: { Note: { type: object, required: [id], properties: { id: { type: string, format: uuid }, pages: { type: integer, format: int64, example: 9007199254740993 } } } }
`,
  'by hand: an example with more than its schema': `paths:
  /orders:
    get:
      operationId: listOrders
      responses:
        '200':
          description: Orders
          headers: { X-Total-Count: { description: How many, schema: { type: integer }, example: 1 } }
          content: { application/json: { schema: { type: object, required: [orders], properties: { orders: { type: array, items: { type: object, properties: { id: { type: integer, format: int64 }, lines: { type: array, items: { type: object } } } } } } }, example: { orders: [{ id: 7, price: 3, lines: [{ sku: a }] }], next: null } } }
`,
}
