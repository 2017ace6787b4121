// The service's own errors, in the form that a contract describes for them.
import t from 'tap'
import { boot, post } from '../../support/small.ts'

const html = 'text/html: { schema: { type: string } }'
const problem =
  'application/problem+json: { schema: { type: object, required: [title], properties: { title: { type: string }, detail: { type: string } } } }'

/** An operation with a body, whose schema allows no member. */
const operation = (responses: string) => `      requestBody:
        content: { application/json: { x-body-limit: 100, schema: { type: object, additionalProperties: false } } }
      responses: { '204': { description: Done }, ${responses} }`

t.test('a name from the request is escaped in an error that is markup, and only there', async (t) => {
  const name = `<img src=x onerror='a("&")'>`
  for (const [type, shown] of [
    ['text/html', '&#60;img src=x onerror=&#39;a(&#34;&#38;&#34;)&#39;&#62;'],
    ['text/plain', name],
  ] as const) {
    const yaml = operation(`'400': { description: Bad, content: { ${type}: { schema: { type: string } } } }`)
    const { statusCode, headers, body } = await (await boot(t, { yaml })).inject(post({ [name]: 1 }))
    t.strictSame([statusCode, headers['content-type']], [400, `${type}; charset=utf-8`])
    t.equal(body, `body must not have the property ${shown}`)
  }
})

t.test('an error that a contract does not describe has the form of another', async (t) => {
  const bad = (content: string) => `{ description: Bad, content: { ${content} } }`
  const none = "'400': { description: Bad }"
  for (const [responses, type, body] of [
    [
      `'400': ${bad(problem)}`,
      'application/problem+json',
      '"title":"Not Implemented","detail":"The operation run needs',
    ],
    [`${none}, '500': ${bad(html)}`, 'text/html; charset=utf-8', /^The operation run needs/],
    [none, 'application/json', /^{"error":501,"message":"The operation run needs a method run in the class Small/],
  ] as const) {
    const app = await boot(t, { yaml: operation(responses), methods: [], isDraft: true })
    const answer = await app.inject(post({}))
    t.strictSame([answer.statusCode, answer.headers['content-type']], [501, type])
    t.match(answer.body, body)
  }
})
