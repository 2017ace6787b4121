import t from 'tap'
import { parseJson } from '../../../service/engine/http/json.ts'
import { build } from '../../support/helper.ts'

const { call, token } = await build(t)
const demo = await token('json')
const parse = (text: string) => parseJson(Buffer.from(text))
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
    const body = `{"id":${literal},"name":"x"}`
    t.equal((await call({ method: 'POST', path: '/plants', token: demo, body })).status, 200, literal.slice(0, 30))
    const { status } = await call({ method: 'DELETE', path: `/plants/${id}`, token: demo })
    t.equal(status, 204, `${literal.slice(0, 30)} is ${id}`)
  }
  for (const id of ['9007199254740993', '9007199254740992']) {
    const body = `{"id":${id},"name":"${id}"}`
    t.equal((await call({ method: 'POST', path: '/plants', token: demo, body })).status, 200)
  }
  t.equal((await call({ method: 'DELETE', path: '/plants/9007199254740993', token: demo })).status, 204)
  t.strictSame((await call({ path: '/plants', token: demo })).json, [{ name: '9007199254740992' }])
  t.equal((await call({ method: 'DELETE', path: '/plants/9007199254740992', token: demo })).status, 204)
})

/** Spellings of an integer that JSON Schema takes for one. */
const SPELLINGS: readonly ((digits: string) => string)[] = [
  (digits) => digits,
  (digits) => `${digits}.0`,
  (digits) => `${digits}.${'0'.repeat(50)}`,
  (digits) => `${digits}e0`,
  (digits) => `${digits}E+0`,
  (digits) => `${digits}e-0`,
  (digits) => `${digits}000e-3`,
  (digits) => `${digits}0.0E-1`,
  (digits) => `${digits.slice(0, -5)}.${digits.slice(-5)}e5`,
  (digits) => `${digits[0] ?? ''}.${digits.slice(1)}E+${digits.length - 1}`,
  (digits) => `0.${digits}e${digits.length}`,
  (digits) => `0.000${digits}e${digits.length + 3}`,
]

t.test('around 2^53 and 2^63 each spelling of an integer is this integer, or refused if it is no int64', async (t) => {
  const borders = [2n ** 53n, 2n ** 63n].flatMap((border) => [-2n, -1n, 0n, 1n, 2n].map((delta) => border + delta))
  for (const [index, border] of borders.entries()) {
    for (const [number, spell] of SPELLINGS.entries()) {
      for (const sign of ['', '-']) {
        const literal = sign + spell(String(border))
        const id = sign === '' ? border : -border
        t.equal(BigInt(parse(literal) as number | bigint), id, literal)
        if (number % 4 !== 0) continue // the answers to the others would only take longer
        const body = `{"id":${literal},"name":"${index} ${number}"}`
        const isInt64 = id === BigInt.asIntN(64, id)
        const { status } = await call({ method: 'POST', path: '/plants', token: demo, body })
        t.equal(status, isInt64 ? 200 : 400, literal)
        if (!isInt64) continue
        t.equal(
          (await call({ method: 'DELETE', path: `/plants/${id}`, token: demo })).status,
          204,
          `${literal} is ${id}`,
        )
      }
    }
  }
  t.strictSame((await call({ path: '/plants', token: demo })).json, [])
})

t.test('around 2^53 and 2^63 a number with a fraction is no integer', async (t) => {
  for (const border of [2n ** 53n, 2n ** 63n].flatMap((border) => [border - 1n, border, border + 1n])) {
    for (const literal of [
      `${border}.5`,
      `${border}.${'0'.repeat(50)}1`,
      `${border}1e-1`,
      `-${border}.5`,
      `-${border}1e-1`,
    ]) {
      const { status } = await call({
        method: 'POST',
        path: '/plants',
        token: demo,
        body: `{"id":${literal},"name":"x"}`,
      })
      t.equal(status, 400, literal)
    }
  }
})

t.test('what is no int64 is refused in a body', async (t) => {
  const literals = ['9223372036854775808', '-9223372036854775809', '-9223372036854776000', '18446744073709551617']
  const others = ['1e400', '-1e400', '1e99999999999', '1e-99999999999', '0.5', '9007199254740992.5', '7'.repeat(16_000)]
  const types = ['"7"', 'true', 'null', '[7]', '{}', '""', '[]']
  for (const literal of [...literals, ...others, ...types]) {
    const { status } = await call({
      method: 'POST',
      path: '/plants',
      token: demo,
      body: `{"id":${literal},"name":"x"}`,
    })
    t.equal(status, 400, literal.slice(0, 30))
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
  ]
  for (const [reason, body] of table) {
    t.equal((await call({ method: 'POST', path: '/plants', token: demo, body })).status, 400, reason)
  }
  for (const body of [
    '{"id":1,"name":secret}',
    '{"id":1,"id":2}',
    '{"__proto__":1}',
    '{"id":1,"name":"\\ud800"}',
    '\uFEFF{}',
    Buffer.from([0xff]),
  ]) {
    const { json } = await call({ method: 'POST', path: '/plants', token: demo, body })
    const message =
      'The body must be JSON in UTF-8, with no byte order mark, no lone surrogate, no duplicate member name, no __proto__ and no number beyond a double'
    t.strictSame(json, { error: 400, message }, 'one message, which quotes nothing of the body')
  }
  for (const text of ['[":",{"a:":"\\":\\\\"},{"a":":"}]', '{"a":{"b":1},"b":[{"a":1},{"a":1}]}', '7', '""', '{}']) {
    t.strictSame(parse(text), JSON.parse(text), `${text} is none of them`)
  }
})

t.test('a lone surrogate is refused, wherever it stands', async (t) => {
  const table: [place: string, text: string][] = [
    ['a high one at the end', '"x\\uD83C"'],
    ['a low one at the start', '"\\udf31x"'],
    ['a low one before a high one', '"\\udf31\\ud83c"'],
    ['a high one before a character', '"\\ud83c🌱"'],
    ['two high ones and a low one', '"\\ud83c\\ud83c\\udf31"'],
    ['after an escaped backslash', '"\\\\\\ud83c"'],
    ['below', '{"id":1,"name":"x","other":[{"a":["\\ud800"]}]}'],
    ['in a member name', '{"a\\udfff":1}'],
    ['in a member name below', '[[{"a":{"\\ud800":1}}]]'],
    ['beside a number that is exact', '[9007199254740993,"\\ud800"]'],
  ]
  for (const [place, text] of table) {
    t.throws(() => parse(text), SyntaxError, place)
    t.equal((await call({ method: 'POST', path: '/plants', token: demo, body: text })).status, 400, place)
  }
  const others = ['"\\ud83c\\udf31"', '{"\\uD83C\\uDF31":["🌱"]}', '"\\\\ud800"', '"\\ud7ff\\ue000\\uffff"']
  for (const text of others) t.strictSame(parse(text), JSON.parse(text), `${text} has none`)
})
