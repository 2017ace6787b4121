// Bodies in JSON over HTTP. fuzz/ compares the reader with a second one, and contract/operations.test.ts sends what each
// operation refuses.
import t from 'tap'
import { build } from '../../support/helper.ts'

const { call, token } = await build(t)
const demo = await token('json')
const create = (body: string | Buffer) => call({ method: 'POST', path: '/plants', token: demo, body })
const remove = async (id: string) => (await call({ method: 'DELETE', path: `/plants/${id}`, token: demo })).status
const list = async () => (await call({ path: '/plants', token: demo })).json

t.test('an id of a body is exact, in every spelling of an integer', async (t) => {
  for (const [literal, id] of [
    ['1.0', '1'],
    ['1e2', '100'],
    ['-0', '0'],
    ['9223372036854775807', '9223372036854775807'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['922337203685477580.7e1', '9223372036854775807'],
    [`5.${'0'.repeat(16_000)}`, '5'],
  ] as const) {
    t.equal((await create(`{"id":${literal},"name":"x"}`)).status, 200, literal.slice(0, 30))
    t.equal(await remove(id), 204, `${literal.slice(0, 30)} is ${id}`)
  }
  for (const id of ['9007199254740993', '9007199254740992']) await create(`{"id":${id},"name":"${id}"}`)
  t.equal(await remove('9007199254740993'), 204)
  t.strictSame(await list(), [{ name: '9007199254740992' }])
  t.equal(await remove('9007199254740992'), 204)
})

t.test('what is no int64 is refused in a body', async (t) => {
  const beyond = '9223372036854775808 -9223372036854775809 -9223372036854776000 18446744073709551617 1e400 -1e400'
  const fractions = '1e-99999999999 0.5 9007199254740992.5 9223372036854775807.5 -9223372036854775808.5'
  const long = `1e99999999999 ${'7'.repeat(16_000)} 9007199254740993.${'0'.repeat(50)}1`
  const types = '"7" true null [7] {} "" []'
  for (const literal of [beyond, fractions, long, types].flatMap((each) => each.split(' ')))
    t.equal((await create(`{"id":${literal},"name":"x"}`)).status, 400, literal.slice(0, 30))
  t.strictSame(await list(), [])
})

t.test('what readers of JSON disagree about is refused, by a message that quotes nothing of it', async (t) => {
  const bodies = [
    ...['{"id":1,"name":"x"}{}', '{"id":0x10,"name":"x"}', '{"id":01,"name":"x"}', '{"id":1,"\\u0069d":2,"name":"x"}'],
    ...['{"id":1,"name":"x","tag":{"a":1,"a":1}}', '{"id":1,"name":"x","tag":{"a":1},"tag":"x"}'],
    ...[
      '{"id":1,"name":"x","\\u005f_proto__":null}',
      '{"id":1,"name":"\\ud83c\\ud83c\\udf31"}',
      '[[{"a":{"\\ud800":1}}]]',
    ],
    ...['['.repeat(16_384), '{"a":'.repeat(2700) + '1' + '}'.repeat(2700)],
    Buffer.from('{"id":1,"name":"\xED\xA0\x80"}', 'latin1'), // a surrogate in UTF-8
  ]
  const rules =
    'no byte order mark, no lone surrogate, no duplicate member name, no __proto__ and no number beyond a double'
  const expected = { status: 400, json: { error: 400, message: `The body must be JSON in UTF-8, with ${rules}` } }
  for (const body of bodies) t.match(await create(body), expected, String(body).slice(0, 50))
  t.equal((await create('{"id":1,"name":"x","constructor":{"prototype":{}}}')).status, 400)
})
