// The length of the messages of errors, for any request.
import t from 'tap'
import { HttpError } from '@plant-store/engine/for-store'
import { ask, post, type Exchange } from '../../../../test/support/contracts/exchanges.ts'
import { boot } from '../../../../test/support/contracts/serve-contract.ts'

/** Characters of a message. */
const MAX_MESSAGE_LENGTH = 1000
const LONG = 'x'.repeat(12_000)
const FORM = 'application/x-www-form-urlencoded'
const CONTRACT = `paths:
  /x:
    post:
      operationId: run
      parameters:
        - { name: a, in: query, style: deepObject, schema: { type: object } }
        - { name: b, in: query, style: form, explode: false, schema: { type: object, additionalProperties: { type: integer } } }
        - { name: c, in: query, schema: { type: string, pattern: '^${'[a-z]'.repeat(600)}$' } }
        - { name: d, in: query, schema: { enum: [${LONG}] } }
        - { name: X-E, in: header, schema: { type: integer } }
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Any' } }, ${FORM}: { schema: { $ref: '#/components/schemas/Any' } } } }
      responses: { '200': { description: Done, content: { application/json: {} } } }
components: { schemas: { Any: { type: object, additionalProperties: { type: object, additionalProperties: false } } } }
`

/** Requests whose errors quote the request, or the contract. */
const REFUSED: readonly Exchange[] = [
  ask(post({}, undefined, `/x?a[${LONG}[]=1`), 400, /property \[xxx/),
  ask(post({}, undefined, `/x?a[${encodeURIComponent('🌱'.repeat(1000))}[]=1`), 400),
  ask(post({}, undefined, `/x?a[x${encodeURIComponent('🌱'.repeat(1000))}[]=1`), 400),
  ask(post({}, undefined, `/x?b=${LONG},x`), 400),
  ask(post({}, undefined, `/x?b=x,${LONG}`), 400),
  ask(post({}, undefined, '/x?c=1'), 400, /must match pattern/),
  ask(post({}, undefined, '/x?d=1'), 400),
  ask(post({ [LONG]: 1 }), 400),
  ask(post({ [LONG]: { [LONG]: 1 } }), 400),
  ask(post(`${LONG}=1`, FORM), 400),
  ask(post(LONG), 400),
  ask(post('{}', LONG), 415),
]

t.test('a message has a bound, whatever is sent', async (t) => {
  const app = await boot(t, { yaml: CONTRACT })
  for (const [request, status, text] of REFUSED) {
    const answer = await app.inject(request)
    const { message } = answer.json<{ message: string }>()
    t.equal(answer.statusCode, status, message)
    t.ok(message.length <= MAX_MESSAGE_LENGTH, `${message.length} characters`)
    t.ok(message.isWellFormed())
    if (text !== undefined) t.match(message, text)
  }
})

t.test('a message is cut, and ends with an ellipsis', (t) => {
  const most = 'x'.repeat(MAX_MESSAGE_LENGTH)
  t.equal(new HttpError(400, most).message, most)
  t.equal(new HttpError(400, `${most}y`).message, `${most.slice(1)}…`)
  const flowers = `x${'🌱'.repeat(MAX_MESSAGE_LENGTH)}`
  const { message } = new HttpError(500, flowers)
  t.ok(message.isWellFormed())
  t.ok(message.endsWith('🌱…'))
  t.end()
})
