// A write that breaks a unique index, if no method catches it: 409 in the form of the contract,
// where it describes one that the service can write, else 500.
import t from 'tap'
import { NotUnique } from '../../src/index.ts'
import { boot } from '../../../../test/support/contracts/serve-contract.ts'

const MESSAGE = 'Another item has the same title'
const json = (schema: string, type = 'application/json') =>
  `{ description: Conflict, content: { ${type}: { schema: { type: object, ${schema} } } } }`
/** The responses beside 200, and the answer. */
const TABLE: Readonly<Record<string, readonly [responses: string, status: number, body: string]>> =
  {
    usual: [
      `'409': ${json('required: [error, message]')}`,
      409,
      `{"error":409,"message":"${MESSAGE}"}`,
    ],
    problem: [
      `'409': ${json('required: [title]', 'application/problem+json')}`,
      409,
      `{"type":"about:blank","title":"Conflict","status":409,"detail":"${MESSAGE}"}`,
    ],
    range: [`4XX: ${json('required: [code]')}`, 409, `{"code":409,"message":"${MESSAGE}"}`],
    text: [`'409': { description: No, content: { text/plain: {} } }`, 409, MESSAGE],
    empty: [`'409': { description: No }`, 409, `{"error":409,"message":"${MESSAGE}"}`],
    rival: [
      `'409': ${json('required: [rival]')}`,
      500,
      '{"code":500,"message":"Internal Server Error"}', // as most errors of this contract
    ],
    none: [
      `'404': ${json('required: [error]')}`,
      500,
      '{"error":500,"message":"Internal Server Error"}',
    ],
  }

t.test('what no method catches is 409 where it is described, else 500', async (t) => {
  const paths = Object.entries(TABLE).map(
    ([name, [responses]]) =>
      `  /${name}: { get: { operationId: ${name}, responses: { '200': { description: Done }, ${responses} } } }`,
  )
  const schemas = `components: { schemas: { Note: { type: object, properties: { title: { type: string } } } } }`
  const notes = {
    schema: 'Note',
    key: 'int64',
    indexes: { title: { on: ['title'], unique: true } },
  } as const
  const log: Record<string, unknown>[] = []
  const app = await boot(t, {
    yaml: ['paths:', ...paths, schemas].join('\n'),
    product: { collections: { notes } },
    run: async () => {
      throw new NotUnique('notes', 'title')
    },
    log,
  })
  for (const [name, [, status, body]] of Object.entries(TABLE)) {
    const answer = await app.inject(`/${name}`)
    t.strictSame([answer.statusCode, answer.body], [status, body], name)
  }
  const faults = log.filter(({ msg }) => msg === 'request failed')
  t.equal(faults.length, 2, 'a 500 is logged')
})
