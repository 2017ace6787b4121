// In `npm run dev`, an operation without a method answers with an example of the contract.
import t, { type Test } from 'tap'
import { readDraft } from '../../../test/support/inner/compiler.ts'
import { answerExample } from '../../engine/src/operation/output/prefer.ts'
import { HttpError } from '@plant-store/engine/for-store'
import { contract } from '../../../test/support/contracts/serve-contract.ts'

const RESPONSES = `
        '404': { description: None, content: { application/json: { schema: { $ref: '#/components/schemas/Error' } } } }
        '200':
          description: Done
          content:
            application/json:
              schema: { type: object, required: [id], properties: { id: { type: integer, format: int64 } } }
              examples:
                large: { value: { id: 9007199254740993 } }
                small: { $ref: '#/components/examples/small' }
                elsewhere: { externalValue: 'https://example.com/x.json' }
        '202': { description: Later }
        '406': { description: Text, content: { text/plain: { example: sorry } } }
        '415': { description: Bytes, content: { application/octet-stream: {} } }
        4XX: { description: Other, content: { application/json: { schema: { type: object, required: [error] }, example: { error: 1 } } } }
        default: { description: Failed, content: { application/json: {} } }
`
const YAML = `paths:
  /x/{id}:
    get:
      operationId: run
      parameters:
        - { name: id, in: path, required: true, schema: { type: string } }
        - { name: limit, in: query, schema: { type: integer } }
      responses: ${RESPONSES}
  /events:
    get:
      operationId: follow
      responses:
        '200':
          description: Notes
          content:
            text/event-stream:
              schema: { type: object, properties: { text: { type: string } } }
              examples: { moss: { value: { text: Moss } } }
  /headers:
    get:
      operationId: headers
      responses:
        '200':
          description: Rows
          headers:
            X-Count: { required: true, schema: { type: integer, format: int64, minimum: 3 } }
            X-Page: { schema: { type: string }, example: next }
            X-Misfit: { schema: { type: integer }, example: many }
            X-Other: { schema: { type: string } }
            Content-Length: { schema: { type: integer }, example: 7 }
          content:
            text/csv: { schema: { type: string }, example: 'a,b' }
            '*/*': { schema: { type: object, properties: { id: { type: integer, format: int64 } } } }
  /impossible:
    get:
      operationId: impossible
      responses:
        '200': { description: Text, content: { application/json: { schema: { type: string, minLength: 2, maxLength: 1 } } } }
        '201': { description: Text, headers: { Location: { required: true, schema: { type: string, minLength: 2, maxLength: 1 } } } }
        '404': { description: None }
  /misfit:
    get:
      operationId: misfit
      responses:
        '200':
          description: Note
          content:
            application/json:
              schema: { type: object, required: [text], properties: { text: { type: string, example: Moss } } }
              examples: { short: { value: {} }, long: { value: { text: 7 } } }
  /lines:
    get:
      operationId: lines
      responses: { '200': { description: Texts, content: { text/event-stream: { schema: { type: string, default: a } } } } }
  /folders:
    get:
      operationId: folders
      responses: { '200': { description: Texts, content: { application/json: { example: { folder: "C:\\Programs\\Layouts" } } } } }
components:
  examples: { small: { value: { id: 7 } } }
  schemas: { Error: { type: object, required: [message], properties: { message: { type: string, default: No such thing } } } }
`

async function examplesIn(t: Test, id = 'run') {
  const folder = t.testdir({ 'openapi.yaml': contract(YAML) })
  const draft = await readDraft(`${folder}/openapi.yaml`, '.', {})
  return draft.contract?.examples?.operations.get(id) ?? { answers: [], lacking: [], method: '' }
}

t.test(
  'the examples of the contract, or values made from its schemas, successes first',
  async (t) => {
    const { answers } = await examplesIn(t)
    t.strictSame(answers, [
      { status: 200, name: 'large', body: { id: 9007199254740993n } },
      { status: 200, name: 'small', body: { id: 7 } },
      { status: 202 },
      { status: 404, body: { message: 'No such thing' } },
      { status: 406, body: 'sorry' },
      { status: 415, body: Buffer.from('bytes') },
      { status: 400, body: { error: 1 }, range: '4XX' },
      { status: 500, body: {}, range: 'default' },
    ])
  },
)

t.test(
  'a request gets the example that it wishes for, else 501 with the list and a method',
  async (t) => {
    const examples = await examplesIn(t)
    const answer = (prefer: string, isUnasked = false) => {
      try {
        const { status, headers } = answerExample('Missing', examples, isUnasked, prefer)
        return [status, headers?.['preference-applied']]
      } catch (error) {
        return error instanceof HttpError ? [error.statusCode, error.message] : [0, String(error)]
      }
    }
    t.strictSame(answer('example=small'), [200, 'example=small'])
    t.strictSame(answer('respond-async, CODE="404"'), [404, 'code=404'])
    t.strictSame(answer('code=200, example=small'), [200, 'example=small'])
    t.strictSame(answer('', true), [200, undefined])
    for (const wish of ['', 'wait=10', 'example=unknown', 'code=599', 'code=404, example=small']) {
      const [status, message] = answer(wish)
      t.equal(status, 501, wish)
      t.match(message, 'Missing. By a header Prefer it answers an example: example=large; ')
      t.match(
        message,
        "  async run({ path: { id }, query }: Request<'run'>): Promise<Result<'run'>> {",
      )
      t.match(message, '    return { status: 200, body: { id: 9007199254740993n } }')
    }
    t.strictSame(answer('example=unknown', true)[0], 501)
  },
)

t.test('the separators of lines in an example do not end a comment', async (t) => {
  const { method } = await examplesIn(t, 'folders') // YAML reads \P and \L as U+2029 and U+2028
  t.match(method, String.raw`folder: 'C:\u2029rograms\u2028ayouts'`)
})

t.test('an example of a stream is the data of one event', async (t) => {
  const examples = await examplesIn(t, 'follow')
  t.strictSame(examples.answers, [
    { status: 200, name: 'moss', body: { text: 'Moss' }, isEvent: true },
  ])
  t.match(
    examples.method,
    "return { status: 200, body: (async function* () { yield { data: { text: 'Moss' } } })() }",
  )
  const { status, body } = answerExample('Missing', examples, false, 'example=moss')
  const events = await Array.fromAsync(body as AsyncIterable<unknown>)
  t.strictSame([status, events], [200, [{ data: { text: 'Moss' } }]])
  const { answers } = await examplesIn(t, 'lines')
  t.strictSame(answers, [{ status: 200, body: 'a', isEvent: true }])
})

t.test('an example has its required headers, and those with an example', async (t) => {
  const examples = await examplesIn(t, 'headers')
  const headers = { 'X-Count': 3n, 'X-Page': 'next' }
  t.strictSame(examples.answers, [
    { status: 200, headers, body: { id: 1 }, type: 'application/json' },
  ])
  const answer = answerExample('Missing', examples, false, 'code=200')
  t.strictSame(answer.headers, { ...headers, 'preference-applied': 'code=200' })
  t.equal(answer.type, 'application/json')
  const { method } = examples
  t.match(method, "type: 'application/json',\n      headers: { 'X-Count': 3n, 'X-Page': 'next' },")
  t.match(method, 'body: { id: 1n },')
})

t.test('where no example can be made, the answer is 501 with advice', async (t) => {
  const examples = await examplesIn(t, 'impossible')
  t.strictSame([examples.answers, examples.lacking], [[{ status: 404 }], [200, 201]])
  const advice = 'None can be made for 200, 201: give an "example" in the contract. '
  for (const prefer of ['code=200', ''])
    t.throws(() => answerExample('Missing', examples, false, prefer), { message: advice })
})

t.test('an example that its schema refuses is never answered', async (t) => {
  const { answers } = await examplesIn(t, 'misfit')
  t.strictSame(answers, [{ status: 200, body: { text: 'Moss' } }])
})

t.test(
  'a preference is read by the grammar of RFC 7240, and may name a range or default',
  async (t) => {
    const examples = await examplesIn(t)
    const statusOf = (prefer: string) => answerExample('Missing', examples, false, prefer).status
    for (const [prefer, status] of [
      ['wait=10, code=404', 404],
      ['foo="a, code=406", code = 404 ; b=c', 404],
      ['code=404, code=406', 404],
      ['example="sm\\all"', 200],
      ['code=4xx', 400],
      ['code=4XX;a="b"', 400],
      ['code=default', 500],
      ['handling=lenient;code=406, code="202"', 202],
    ] as const)
      t.equal(statusOf(prefer), status, prefer)
    const { headers } = answerExample('Missing', examples, false, 'code=4xx')
    t.strictSame(headers, { 'preference-applied': 'code=4xx' })
  },
)
