// How much memory an evaluation holds beside its value, by the garbage collector of V8, and how much of it is reserved.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { parseJson } from '@plant-store/engine/for-store'
import { type Schema, Validator } from '@plant-store/json-schema'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const SIZE = 100_000 // bytes
/** More bytes than the garbage left by a collection. */
const NOISE = 400_000

const INT64 = { type: 'integer', format: 'int64' }
const A = { $ref: 'A' }
const B = { $ref: 'B' }
/** The last string of each value: its format measures. */
const END = { type: 'string', format: 'end' }
const LIST = { type: 'array', items: A }

/** By name: schemas, and the most bytes held by an evaluation for a byte of JSON. */
const SCHEMAS: Readonly<Record<string, readonly [Readonly<Record<string, Schema>>, number]>> = {
  anyOf: [{ A: { anyOf: [INT64, LIST, { type: 'null' }, END] } }, 60],
  oneOf: [{ A: { oneOf: [INT64, LIST, { type: 'null' }, END] } }, 60],
  'twice the same': [
    { A: { allOf: [{ anyOf: [INT64, LIST, END] }, { anyOf: [INT64, LIST, END] }] } },
    160,
  ],
  'two in each other': [
    {
      A: { anyOf: [LIST, { type: 'array', items: B }, INT64, END] },
      B: { anyOf: [{ type: 'array', items: B }, LIST, INT64, END] },
    },
    210,
  ],
  'one that fails late': [
    {
      A: { anyOf: [B, LIST, INT64, END] },
      B: { type: 'array', items: { anyOf: [B, { type: 'boolean' }] } },
    },
    160,
  ],
  uniqueItems: [{ A: { anyOf: [{ ...LIST, uniqueItems: true }, LIST, INT64, END] } }, 130],
  unevaluatedItems: [
    { A: { anyOf: [{ type: 'array', contains: A }, INT64, END], unevaluatedItems: false } },
    110,
  ],
}

const nested = (levels: number, item = '') => `[${item}`.repeat(levels) + ']'.repeat(levels)
const PARTS = ['7', '[]', '[7]', '[7,[7]]', nested(90), nested(90, '7,').replace(',]', ']')]

for (const [name, [schemas, most]] of Object.entries(SCHEMAS)) {
  t.test(`an evaluation holds little memory, and reserves it: ${name}`, async (t) => {
    for (const part of PARTS) {
      let before = 0
      let held = 0
      let reserved = 0
      const end = () => {
        collectGarbage()
        held = Math.max(held, process.memoryUsage().heapUsed - before)
        return true
      }
      const check = new Validator(schemas, 'incoming', { end }).compile('body', A)
      const text = `[${`${part},`.repeat(SIZE / (part.length + 1))}"x"]`
      const value = parseJson(Buffer.from(text))
      collectGarbage()
      before = process.memoryUsage().heapUsed
      check(value, (bytes) => (reserved = Math.max(reserved, bytes)))
      const figures = `${part.slice(0, 9)}: ${held} bytes, ${reserved} reserved`
      t.ok(held <= most * text.length + NOISE, figures)
      t.ok(held <= reserved + NOISE, figures)
    }
  })
}
