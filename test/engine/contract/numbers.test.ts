// Numbers of bodies and queries: exact where an int64 is asked for, else rounded to a double (IEEE 754, binary64).
import t from 'tap'
import { serve } from './described.ts'

/** Numbers of which a method gets the nearest double, if the schema asks for no integer. */
const NUMBERS = [
  ...['0.1', '1e-400', '1.000000000000000005', '9007199254740992.5', '-3.855087475011986e+16'],
  ...['9007199254740993', '9223372036854776000', '36893488147419103233', '1e300'],
]

t.test('a number of a body is rounded where the schema asks for no integer', async (t) => {
  for (const schema of ['{ type: number }', '{}', "{ type: [number, 'null'] }", '{ minimum: -1e+300 }']) {
    const { request } = await serve(t, `A: { properties: { a: { items: ${schema} } } }`)
    const rounded = NUMBERS.map(Number)
    const { got } = await request(`{"a":[${NUMBERS.join()}],"b":[${NUMBERS.join()}]}`)
    t.strictSame(got, { a: rounded, b: rounded }, schema)
    for (const text of ['1e400', '-1e400', '9'.repeat(400)])
      t.equal((await request(`{"a":[${text}]}`)).status, 400, text)
  }
})

t.test('a fraction is no integer, however small, and has its place among bounds', async (t) => {
  const { request } = await serve(
    t,
    'A: { type: array, prefixItems: [{ type: integer }, { type: integer, format: int64 }, { enum: [1] }, { minimum: 2 }, { maximum: 0 }, { type: [integer, string] }, { type: object }, { type: string }] }',
  )
  const valid = ['1', '1', '1', '2', '0', '"x"', '{}', '""']
  t.equal((await request(`[${valid.join()}]`)).status, 204)
  for (const at of valid.keys()) {
    const text = valid.with(at, '1.000000000000000005').join()
    t.match(await request(`[${text}]`), { status: 400, text: new RegExp(`body/${at} `) }, text)
  }
})

t.test('what an answer writes for a double is a number that a request may have', async (t) => {
  const { request, answer } = await serve(t, 'A: { type: array, items: { type: number } }')
  for (const value of [2 ** 63, 2 ** 64, -(2 ** 70), 1e23, 5e-324, Number.MAX_VALUE]) {
    const { text } = await answer([value])
    t.strictSame((await request(text)).got, [value], text)
  }
  for (const value of [NaN, Infinity]) t.equal((await answer([value])).status, 500, String(value))
})
