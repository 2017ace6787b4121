// A test fails if the contract does not document every part of an answer.
import t from 'tap'
import * as documented from './documented.ts'
import { contractOf } from './contract.ts'
import { assertDocumented, faultOf } from './own.ts'
import { product } from './product/product.ts'

const others = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'x-request-id': 'a' }
const headers = { ...others, 'content-type': 'application/json' }
const plant = { status: 200, headers, text: '{"name":"Rose"}' }
const error = { status: 404, headers, text: '{"error":404,"message":"No such plant"}' }

const faults: Record<string, Parameters<typeof faultOf>> = {
  'a status without a response': ['POST', '/plants', { ...plant, status: 201 }],
  'a status of another operation': ['GET', '/plants', { ...error, status: 409, text: '{"error":409,"message":"x"}' }],
  'an answer without an operation': ['GET', '/other', plant],
  'an additional member': ['POST', '/plants', { ...plant, text: '{"id":7,"name":"Rose"}' }],
  'a member that is missing': ['POST', '/plants', { ...plant, text: '{"tag":"Rose"}' }],
  'another type': ['GET', '/plants', plant],
  'invalid JSON': ['POST', '/plants', { ...plant, text: '{"name":"Rose"' }],
  'a body that the contract does not have': ['DELETE', '/plants/7', { ...plant, status: 204 }],
  'a body to HEAD': ['HEAD', '/plants', { ...plant, text: '[]' }],
  'another number in the Error': ['DELETE', '/plants/7', { ...error, text: '{"error":400,"message":"No such plant"}' }],
  'an unknown header': ['POST', '/plants', { ...plant, headers: Object.assign({ server: 'x' }, headers) }],
  'a header with a wrong value': ['POST', '/plants', { ...plant, headers: { ...headers, 'cache-control': 'public' } }],
  'a header that is missing': ['POST', '/plants', { ...plant, headers: { ...headers, 'x-request-id': undefined } }],
  'another media type': ['POST', '/plants', { ...plant, headers: { ...headers, 'content-type': 'text/plain' } }],
  '401 without WWW-Authenticate': ['GET', '/plants', { ...error, status: 401, text: '{"error":401,"message":"No"}' }],
  'OPTIONS without Allow': ['OPTIONS', '/plants', { ...plant, status: 204, text: '' }],
}
for (const [what, answered] of Object.entries(faults)) {
  t.test(`not documented: ${what}`, async (t) => {
    t.throws(() => assertDocumented(...answered))
    t.ok(faultOf(...answered))
  })
}

t.test('an error outside of operations has the form that the product writes', async (t) => {
  const schema = { type: 'object', required: ['code'], properties: { code: { type: 'string' } } }
  const response = { type: 'application/problem+json', schema, headers: new Map(), examples: [], named: {} }
  const own = contractOf({ ...product, errorBody: (status, reason) => ({ code: `E${status}`, reason }) })
  const operations = own.operations.map((each) => ({ ...each, responses: new Map([['default', response]]) }))
  const fault = (type: string, body: object) => {
    const answer = { status: 405, headers: { ...headers, 'content-type': type }, text: JSON.stringify(body) }
    return documented.faultOf({ ...own, operations }, 'ACL', '/plants', answer)
  }
  t.equal(fault('application/problem+json', { code: 'E405', reason: 'No' }), undefined)
  t.match(fault('application/json', { code: 'E405', reason: 'No' }), 'application/problem+json')
  t.match(fault('application/problem+json', { code: 'E405' }), 'reason')
  t.match(fault('application/problem+json', { error: 405, message: 'No' }), 'code')
})
