// Values whose schemas would exceed the stack are refused by their depth: in a new process, whose code takes the most room on
// the stack, as in one that is warm. A value stored by one can be read by the other.
import { setFlagsFromString } from 'node:v8'
import t from 'tap'
import { HttpError } from '@plant-store/engine/for-store'
import { itemReader, itemWriter } from '../../../test/support/inner/contract.ts'
import { type Schema, Validator } from '@plant-store/json-schema'
import { serve } from '../../engine/test/operation/described.ts'

for (const tier of ['opt', 'sparkplug', 'maglev']) setFlagsFromString(`--no-${tier}`)

const LEVELS = 95
const LIST: Schema = { type: 'array', items: { $ref: 'A' } }

/** By keyword: wraps a schema in one more. */
const WRAPS: Readonly<Record<string, (schema: Schema) => Schema>> = {
  allOf: (schema) => ({ allOf: [true, schema] }),
  anyOf: (schema) => ({ anyOf: [false, schema] }),
  oneOf: (schema) => ({ oneOf: [false, schema] }),
  if: (schema) => ({ if: schema, then: true, else: false }),
  then: (schema) => ({ if: true, then: schema }),
  not: (schema) => ({ not: { not: schema } }),
  contains: (schema) => ({ contains: { $ref: 'A' }, allOf: [schema], maxContains: 9 }),
  unevaluatedItems: (schema) => ({ anyOf: [schema], unevaluatedItems: false }),
}

const wrapped = (schema: Schema, wrap: (schema: Schema) => Schema, times: number) =>
  Array.from({ length: times }).reduce<Schema>(wrap, schema)
const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels))

for (const [keyword, wrap] of Object.entries(WRAPS)) {
  t.test(`a depth that is too much is known before the stack ends: ${keyword}`, async (t) => {
    for (const times of [1, 4, 16, 40]) {
      const validator = new Validator({ A: wrapped(LIST, wrap, times) }, 'stored')
      const decode = () => validator.decodeInt64s({ $ref: 'A' }, nested(LEVELS))
      if (times < 4) t.doesNotThrow(decode)
      else if (times === 40) t.throws(decode, /too many schemas within each other/)
      else attempt(decode, (message) => t.match(message, /too many schemas within each other/))
    }
  })
}

function attempt(run: () => unknown, onError: (message: string) => void): void {
  try {
    run()
  } catch (error) {
    onError(String(error))
  }
}

t.test('such a body is 400, and such an item is not stored', async (t) => {
  for (const combinator of ['anyOf', 'oneOf', 'allOf']) {
    const open = `{ ${combinator}: [`.repeat(24)
    const list = "{ type: array, items: { $ref: '#/components/schemas/A' } }"
    const schemas = `A: ${open}${list}${'] }'.repeat(24)}\nB: { type: object, properties: { n: { type: integer, format: int64 }, of: { $ref: '#/components/schemas/A' } } }`
    const product = { collections: { plain: { schema: 'B', key: 'int64' } } } as const
    const { request, contract } = await serve(t, schemas, product)
    const { status, text } = await request(nested(LEVELS))
    t.equal(status, 400)
    t.match(text, /body is nested too deep for its schema/)
    t.equal((await request(nested(20))).status, 204)
    const write = itemWriter(contract, 'B')
    t.throws(
      () => write({ of: nested(LEVELS) }),
      new HttpError(400, 'item is nested too deep for its schema'),
    )
    t.strictSame(itemReader(contract, 'B')(write({ n: 7n, of: nested(20) })), {
      n: 7n,
      of: nested(20),
    })
  }
})
