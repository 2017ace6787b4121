// Bodies in HTTP, and JSON over HTTP. contract/operations.test.ts sends invalid bodies to each
// operation. fuzz/ compares the reader of JSON with a second one, and bounds the length of a media
// type.
import t from 'tap'
import { build, statusesOf } from '../../../../test/support/servers/start-product.ts'

const { call, raw, token } = await build(t)
const demo = await token('body')
const body = '{"id":1,"name":"Rose"}'
const post = (text: string | Buffer, headers: readonly string[] = []) =>
  call({ method: 'POST', path: '/plants', token: demo, headers, body: text })
const create = async (headers: readonly string[], text: string = body) =>
  (await post(text, headers)).status
const head = (headers: string) =>
  `POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${demo}\r\n${headers}\r\n\r\n`

/** Valid ends of `application/json`, with `|` between. */
const ACCEPTED = [
  '| |\t|;| ;|;charset=utf-8|;\tcharset=utf-8| ; charset=utf-8 ;|; Charset=Utf-8',
  '; CHARSET="UTF-8"|; v=1|; v=""|; v="; charset=latin1"|; v="\u00e9"|; v="a;b,c"; w=2|; charsets=latin1',
]
/** Invalid ends. */
const REFUSED = [
  '/x|p|5|+x| charset=utf-8|, charset=utf-8|, application/json|;;|; ; charset=utf-8',
  '; charset|; charset=|; charset =utf-8|; charset= utf-8|; charset=utf8|; charset=latin1',
  '; charset=\'utf-8\'|; charset="utf-8|; charset=utf-8"|; charset="utf-8"x|; charset=" utf-8"|; charset="\\u\\tf-8"',
  '; charset=utf-8 x|; charset=utf-8, text/plain|; charset=utf-8; charset=utf-8|; =utf-8',
  '; v="1|; v=1 2|; v=(1)|; v=1; charset=latin1|; v="\\"; charset=latin1"|; v=\u00e9|; \u00e9=1',
]
/** Other types. */
const OTHERS = [
  '|/|json|application/|/json|application/ json|application /json|application/*|*/*|text/json',
  'application/problem+json|application/x-www-form-urlencoded|text/plain; application/json',
]
const split = (texts: readonly string[]) => texts.flatMap((text) => text.split('|'))

t.test(
  'a body is application/json in UTF-8, with or without other parameters; any other type is 415',
  async (t) => {
    for (const type of split(ACCEPTED).flatMap((text) => [
      `application/json${text}`,
      `APPLICATION/Json${text}`,
    ]))
      t.equal(await create(['Content-Type', type]), 200, type)
    const long = '; v="\\"'.repeat(1500)
    for (const type of [
      ...[...split(REFUSED), long].map((text) => `application/json${text}`),
      ...split(OTHERS),
    ])
      t.equal(await create(['Content-Type', type]), 415, type.slice(0, 50))
    for (const second of ['application/json', 'text/plain'])
      t.equal(
        await create(['Content-Type', 'application/json', 'content-type', second]),
        415,
        `and ${second}`,
      )
  },
)

t.test('an encoded body is refused with 415', async (t) => {
  const headers = (encoding: string) => [
    'Content-Type',
    'application/json',
    'Content-Encoding',
    encoding,
  ]
  for (const encoding of ['identity', 'Identity'])
    t.equal(await create(headers(encoding)), 200, encoding)
  for (const encoding of ['gzip', 'br', 'deflate', 'utf-8', 'gzip, identity', 'identity, gzip'])
    t.equal(await create(headers(encoding)), 415, encoding)
  t.equal(await create([...headers('identity'), 'Content-Encoding', 'gzip']), 415, 'two headers')
})

t.test('a body has up to 16384 bytes, and at least one', async (t) => {
  const json = head('Content-Type: application/json\r\nTransfer-Encoding: chunked')
  const most = `4000\r\n${body.padEnd(16_384)}\r\n`
  t.equal(await create([], body.padEnd(16_384)), 200, 'with Content-Length')
  t.equal(await create([], body.padEnd(16_385)), 413, 'one more with Content-Length')
  for (const [what, status, ...parts] of [
    ['chunked', 200, json, most, '0\r\n\r\n'],
    ['one more, chunked', 413, json, most, '1\r\n \r\n0\r\n\r\n'],
    [
      'before it is sent',
      413,
      head('Content-Type: application/json\r\nContent-Length: 99999999999'),
    ],
    ['none', 400, head('X: y')],
    ['none, chunked', 400, json, '0\r\n\r\n'],
    ['a length of zeros', 400, head('Content-Length: 00')],
  ] as const)
    t.strictSame(statusesOf(await raw(1, ...parts)), [status], what)
})

t.test('an id is exact in every spelling of an integer, and what is no int64 is 400', async (t) => {
  const remove = async (id: string) =>
    (await call({ method: 'DELETE', path: `/plants/${id}`, token: demo })).status
  const create = async (id: string) => (await post(`{"id":${id},"name":"x"}`)).status
  await remove('1')
  for (const [literal, id] of [
    ['1.0', '1'],
    ['1e2', '100'],
    ['-0', '0'],
    ['9223372036854775807', '9223372036854775807'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['922337203685477580.7e1', '9223372036854775807'],
    [`5.${'0'.repeat(16_000)}`, '5'],
  ] as const)
    t.strictSame(
      [await create(literal), await remove(id)],
      [200, 204],
      `${literal.slice(0, 30)} is ${id}`,
    )
  t.strictSame([await create('9007199254740993'), await remove('9007199254740992')], [200, 404])
  const beyond =
    '9223372036854775808 -9223372036854775809 -9223372036854776000 18446744073709551617 1e400 -1e400'
  const fractions =
    '1e-99999999999 0.5 9007199254740992.5 9223372036854775807.5 -9223372036854775808.5'
  const long = `1e99999999999 ${'7'.repeat(16_000)} 9007199254740993.${'0'.repeat(50)}1`
  const types = '"7" true null [7] {} "" []'
  for (const literal of [beyond, fractions, long, types].flatMap((literals) => literals.split(' ')))
    t.equal(await create(literal), 400, literal.slice(0, 30))
})

t.test(
  'what readers of JSON disagree about is refused, by a message that quotes nothing of it',
  async (t) => {
    const bodies = [
      '{"id":1,"name":"x"}{}',
      '{"id":0x10,"name":"x"}',
      '{"id":01,"name":"x"}',
      '{"id":1,"\\u0069d":2,"name":"x"}',
      '{"id":1,"name":"x","tag":{"a":1,"a":1}}',
      '{"id":1,"name":"x","\\u005f_proto__":null}',
      '{"id":1,"name":"\\ud83c\\ud83c\\udf31"}',
      '['.repeat(16_384),
      Buffer.from('{"id":1,"name":"\xED\xA0\x80"}', 'latin1'), // a surrogate in UTF-8
    ]
    const rules =
      'no byte order mark, no lone surrogate, no duplicate property name, no __proto__ and no number beyond a double'
    const expected = {
      status: 400,
      json: { error: 400, message: `The body must be JSON in UTF-8, with ${rules}` },
    }
    for (const body of bodies) t.match(await post(body), expected, String(body).slice(0, 50))
    t.equal(await create([], '{"id":1,"name":"x","constructor":{"prototype":{}}}'), 400)
  },
)
