import t from 'tap'
import { build } from '../../support/helper.ts'

const { app, call, raw, token } = await build(t)
const demo = await token('body')
const body = '{"id":1,"name":"Rose"}'
const create = (headers: readonly string[], text: string = body) =>
  call({ method: 'POST', path: '/plants', token: demo, headers, body: text })
const head = (headers: string) =>
  `POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${demo}\r\n${headers}\r\n\r\n`

/** What may follow `application/json`. */
const ACCEPTED = [
  '',
  ' ',
  '\t',
  ';',
  ' ;',
  ';charset=utf-8',
  ';\tcharset=utf-8',
  ' ; charset=utf-8 ;',
  '; Charset=Utf-8',
]
const QUOTED = ['; CHARSET="UTF-8"', '; v=1', '; v=""', '; v="; charset=latin1"', '; v="\u00e9"', '; v="a;b,c"; w=2']

/** What may not. */
const BROKEN = [
  '/x',
  'p',
  '5',
  '+x',
  ' charset=utf-8',
  ', charset=utf-8',
  ', application/json',
  ';;',
  '; ; charset=utf-8',
]
const CHARSETS = ['', '=', ' =utf-8', '= utf-8', '=utf8', '=latin1', "='utf-8'", '="utf-8', '=utf-8"', '="utf-8"x']
const MORE_CHARSETS = [
  '=" utf-8"',
  '=utf-8 x',
  '=utf-8, text/plain',
  '=utf-8; charset=utf-8',
  '="\\u\\tf-8"',
  's=latin1',
]
const PARAMETERS = [
  '=utf-8',
  'v="1',
  'v=1 2',
  'v=(1)',
  'v=1; charset=latin1',
  'v="\\"; charset=latin1"',
  'v=\u00e9',
  '\u00e9=1',
]
const TYPES = [
  '',
  '/',
  'json',
  'application/',
  '/json',
  'application/ json',
  'application /json',
  'application/*',
  '*/*',
]
const OTHERS = [
  'application/problem+json',
  'application/x-www-form-urlencoded',
  'text/json',
  'text/plain; application/json',
]
const REFUSED = [
  ...BROKEN,
  ...[...CHARSETS, ...MORE_CHARSETS].map((each) => `; charset${each}`),
  ...PARAMETERS.map((each) => `; ${each}`),
].map((each) => `application/json${each}`)

t.test('a body is application/json in UTF-8, with or without other parameters', async (t) => {
  for (const type of [...ACCEPTED, ...QUOTED].flatMap((each) => [`application/json${each}`, `APPLICATION/Json${each}`]))
    t.equal((await create(['Content-Type', type])).status, 200, type)
})

t.test('any other media type is refused with 415', async (t) => {
  for (const type of [...REFUSED, ...TYPES, ...OTHERS])
    t.equal((await create(['Content-Type', type])).status, 415, type)
  const [none] = await raw(1, head(`Content-Length: ${body.length}`) + body)
  t.equal(none?.status, 415, 'none')
  const long = `application/json${'; v="\\"'.repeat(1500)}`
  t.equal((await create(['Content-Type', long])).status, 415, 'a long one')
})

t.test('the time to check a media type grows no faster than its length', async (t) => {
  // Longer than a connection would let pass: if the time grew with the square, this would take many minutes.
  for (const part of [' ', '\t', ';', '; ', ';a=b', ';a="b"', ';charset=utf-8', 'a']) {
    const type = `application/json${part.repeat(1_000_000 / part.length)}!`
    const headers = { authorization: `Bearer ${demo}`, 'content-type': type }
    t.equal((await app.inject({ method: 'POST', url: '/plants', headers, body })).statusCode, 415, part)
  }
})

t.test('two Content-Type headers are refused with 415', async (t) => {
  for (const second of ['application/json', 'text/plain']) {
    t.equal((await create(['Content-Type', 'application/json', 'content-type', second])).status, 415, second)
  }
})

t.test('an encoded body is refused with 415', async (t) => {
  const headers = (encoding: string) => ['Content-Type', 'application/json', 'Content-Encoding', encoding]
  for (const encoding of ['identity', 'Identity']) t.equal((await create(headers(encoding))).status, 200, encoding)
  for (const encoding of ['gzip', 'br', 'deflate', 'utf-8', 'gzip, identity', 'identity, gzip']) {
    t.equal((await create(headers(encoding))).status, 415, encoding)
  }
  t.equal((await create([...headers('identity'), 'Content-Encoding', 'gzip'])).status, 415, 'two headers')
})

t.test('a body has up to 16384 bytes', async (t) => {
  const json = ['Content-Type', 'application/json']
  t.equal((await create(json, body.padEnd(16_384))).status, 200, 'with Content-Length')
  t.equal((await create(json, body.padEnd(16_385))).status, 413, 'one more with Content-Length')
  const chunks = (size: number) => {
    const start = head('Content-Type: application/json\r\nTransfer-Encoding: chunked')
    return [`${start}4000\r\n${body.padEnd(16_384)}\r\n`, size > 16_384 ? '1\r\n \r\n0\r\n\r\n' : '0\r\n\r\n']
  }
  t.equal((await raw(1, ...chunks(16_384)))[0]?.status, 200, 'chunked')
  t.equal((await raw(1, ...chunks(16_385)))[0]?.status, 413, 'one more, chunked')
  const [announced] = await raw(1, head('Content-Type: application/json\r\nContent-Length: 99999999999'))
  t.equal(announced?.status, 413, 'before it is sent')
})

t.test('a create without a body is refused with 400', async (t) => {
  for (const headers of ['X: y', 'Content-Length: 0', 'Content-Type: application/json', 'Content-Length: 00']) {
    t.equal((await raw(1, head(headers)))[0]?.status, 400, headers)
  }
  const chunked = head('Content-Type: application/json\r\nTransfer-Encoding: chunked')
  t.equal((await raw(1, `${chunked}0\r\n\r\n`))[0]?.status, 400, 'chunked')
})

t.test('a delete ignores a body and its type', async (t) => {
  const remove = (headers: readonly string[], text?: string) =>
    call({ method: 'DELETE', path: '/plants/1', token: demo, headers, ...(text !== undefined && { body: text }) })
  const types = ['application/json', 'text/plain', 'nonsense', 'application/json; charset=utf-16']
  for (const type of types) {
    for (const text of [undefined, '', '{', body, 'x'.repeat(20_000)]) {
      await create([])
      t.equal((await remove(['Content-Type', type], text)).status, 204, `${type} with ${String(text).slice(0, 30)}`)
    }
  }
})
