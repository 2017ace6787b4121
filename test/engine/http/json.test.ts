import t from 'tap'
import { parseJson } from '../../../service/engine/http/json.ts'
import { build } from '../../support/helper.ts'

const { call, token } = await build(t)
const demo = await token('json')
const parse = (text: string) => parseJson(Buffer.from(text))
const create = (body: string | Buffer) => call({ method: 'POST', path: '/plants', token: demo, body })
const zeros = '0'.repeat(16_000)

t.test('a number is exact, or no integer', async (t) => {
  const table: [literal: string, value: unknown][] = [
    ['1.0', 1],
    ['1e2', 100],
    ['1.5E+1', 15],
    ['-0', -0],
    ['0.1', 0.1],
    ['0e99999999999', 0],
    ['9007199254740992', 9007199254740992],
    ['9007199254740993', 9007199254740993n],
    ['9007199254740993.0', 9007199254740993n],
    ['900719925474099.3e1', 9007199254740993n],
    ['12345678901234567890e-1', 1234567890123456789n],
    ['-9223372036854775808', -(2 ** 63)],
    ['9223372036854775807', 9223372036854775807n],
    [`1.${zeros}`, 1],
    [`1${zeros}e-16000`, 1],
    [`0.${zeros}7e16001`, 7],
  ]
  for (const [literal, value] of table) t.strictSame(parse(`[${literal}]`), [value], literal.slice(0, 30))
  for (const fraction of ['9007199254740992.5', '1e-400', '1e-99999999999'])
    t.equal((parse(fraction) as symbol).description, fraction)
  for (const literal of ['1e400', '-1e99999999999', '9'.repeat(310)])
    t.throws(() => parse(literal), SyntaxError, literal)
})

t.test('an id of a body is exact, in every spelling of an integer', async (t) => {
  const table: [literal: string, id: string][] = [
    ['1.0', '1'],
    ['1e2', '100'],
    ['-0', '0'],
    ['9007199254740993', '9007199254740993'],
    ['9007199254740992', '9007199254740992'],
    ['9223372036854775807', '9223372036854775807'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['922337203685477580.7e1', '9223372036854775807'],
    [`5.${zeros}`, '5'],
  ]
  for (const [literal, id] of table) {
    t.equal((await create(`{"id":${literal},"name":"x"}`)).status, 200, literal.slice(0, 30))
    const { status } = await call({ method: 'DELETE', path: `/plants/${id}`, token: demo })
    t.equal(status, 204, `${literal.slice(0, 30)} is ${id}`)
  }
  for (const id of ['9007199254740993', '9007199254740992']) {
    t.equal((await create(`{"id":${id},"name":"${id}"}`)).status, 200)
  }
  t.equal((await call({ method: 'DELETE', path: '/plants/9007199254740993', token: demo })).status, 204)
  t.strictSame((await call({ path: '/plants', token: demo })).json, [{ name: '9007199254740992' }])
  t.equal((await call({ method: 'DELETE', path: '/plants/9007199254740992', token: demo })).status, 204)
})

t.test('what is no int64 is refused in a body', async (t) => {
  const literals = ['9223372036854775808', '-9223372036854775809', '-9223372036854776000', '18446744073709551617']
  const others = ['1e400', '-1e400', '1e99999999999', '1e-99999999999', '0.5', '9007199254740992.5', '7'.repeat(16_000)]
  const fractions = ['9223372036854775807.5', '-9223372036854775808.5', `9007199254740993.${'0'.repeat(50)}1`]
  const types = ['"7"', 'true', 'null', '[7]', '{}', '""', '[]']
  for (const literal of [...literals, ...others, ...fractions, ...types]) {
    t.equal((await create(`{"id":${literal},"name":"x"}`)).status, 400, literal.slice(0, 30))
  }
  t.strictSame((await call({ path: '/plants', token: demo })).json, [])
})

t.test('what readers of JSON disagree about is refused', async (t) => {
  const table: [reason: string, body: string | Buffer][] = [
    ['empty', ''],
    ['white space', ' \n'],
    ['broken', '{"id":1,"name":"x"'],
    ['a comma too many', '{"id":1,"name":"x",}'],
    ['two values', '{"id":1,"name":"x"}{}'],
    ['a number of JavaScript', '{"id":0x10,"name":"x"}'],
    ['a number with a zero before it', '{"id":01,"name":"x"}'],
    ['a byte order mark', '\uFEFF{"id":1,"name":"x"}'],
    ['UTF-16', Buffer.from('{"id":1,"name":"x"}', 'utf16le')],
    ['invalid UTF-8', Buffer.from('{"id":1,"name":"\xFF"}', 'latin1')],
    ['a surrogate in UTF-8', Buffer.from('{"id":1,"name":"\xED\xA0\x80"}', 'latin1')],
    ['a name twice', '{"id":1,"id":1,"name":"x"}'],
    ['a name twice, spelled differently', '{"id":1,"\\u0069d":2,"name":"x"}'],
    ['a name twice below', '{"id":1,"name":"x","tag":{"a":1,"a":1}}'],
    ['an object twice', '{"id":1,"name":"x","tag":{"a":1},"tag":"x"}'],
    ['__proto__', '{"id":1,"name":"x","__proto__":{"tag":"y"}}'],
    ['__proto__, spelled differently', '{"id":1,"name":"x","\\u005f_proto__":null}'],
    ['constructor', '{"id":1,"name":"x","constructor":{"prototype":{}}}'],
    ['open brackets', '['.repeat(16_384)],
    ['deep nesting', '['.repeat(8192) + ']'.repeat(8192)],
    ['deep objects', '{"a":'.repeat(2700) + '1' + '}'.repeat(2700)],
    ['a high surrogate at the end', '"x\\uD83C"'],
    ['a low surrogate before a high one', '"\\udf31\\ud83c"'],
    ['two high surrogates and a low one', '"\\ud83c\\ud83c\\udf31"'],
    ['a surrogate after an escaped backslash', '"\\\\\\ud83c"'],
    ['a surrogate below', '{"id":1,"name":"x","other":[{"a":["\\ud800"]}]}'],
    ['a surrogate in a member name below', '[[{"a":{"\\ud800":1}}]]'],
    ['a surrogate beside a number that is exact', '[9007199254740993,"\\ud800"]'],
  ]
  const message =
    'The body must be JSON in UTF-8, with no byte order mark, no lone surrogate, no duplicate member name, no __proto__ and no number beyond a double'
  for (const [reason, body] of table) {
    const { status, json } = await create(body)
    t.equal(status, 400, reason)
    // Where a member is refused, not the text, the contract says why.
    const isText = !['constructor', 'empty'].includes(reason)
    if (isText) t.strictSame(json, { error: 400, message }, 'one message, which quotes nothing of the body')
  }
  const others = ['"\\ud83c\\udf31"', '{"\\uD83C\\uDF31":["🌱"]}', '"\\\\ud800"', '"\\ud7ff\\ue000\\uffff"']
  const colons = ['[":",{"a:":"\\":\\\\"},{"a":":"}]', '{"a":{"b":1},"b":[{"a":1},{"a":1}]}', '7', '""', '{}']
  for (const text of [...others, ...colons]) t.strictSame(parse(text), JSON.parse(text), `${text} is none of them`)
})
