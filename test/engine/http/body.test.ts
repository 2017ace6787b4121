// Bodies as HTTP has them. contract/operations.test.ts sends what each operation refuses; fuzz/ says how long a type may take.
import t from 'tap'
import { build, statusesOf } from '../../support/helper.ts'

const { call, raw, token } = await build(t)
const demo = await token('body')
const body = '{"id":1,"name":"Rose"}'
const create = async (headers: readonly string[], text: string = body) =>
  (await call({ method: 'POST', path: '/plants', token: demo, headers, body: text })).status
const head = (headers: string) =>
  `POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${demo}\r\n${headers}\r\n\r\n`

/** What may follow `application/json`, with `|` between. */
const ACCEPTED = [
  '| |\t|;| ;|;charset=utf-8|;\tcharset=utf-8| ; charset=utf-8 ;|; Charset=Utf-8',
  '; CHARSET="UTF-8"|; v=1|; v=""|; v="; charset=latin1"|; v="\u00e9"|; v="a;b,c"; w=2',
]
/** What may not. */
const REFUSED = [
  '/x|p|5|+x| charset=utf-8|, charset=utf-8|, application/json|;;|; ; charset=utf-8',
  '; charset|; charset=|; charset =utf-8|; charset= utf-8|; charset=utf8|; charset=latin1|; charsets=latin1',
  '; charset=\'utf-8\'|; charset="utf-8|; charset=utf-8"|; charset="utf-8"x|; charset=" utf-8"|; charset="\\u\\tf-8"',
  '; charset=utf-8 x|; charset=utf-8, text/plain|; charset=utf-8; charset=utf-8|; =utf-8',
  '; v="1|; v=1 2|; v=(1)|; v=1; charset=latin1|; v="\\"; charset=latin1"|; v=\u00e9|; \u00e9=1',
]
/** Other types. */
const OTHERS = [
  '|/|json|application/|/json|application/ json|application /json|application/*|*/*|text/json',
  'application/problem+json|application/x-www-form-urlencoded|text/plain; application/json',
]
const split = (texts: readonly string[]) => texts.flatMap((each) => each.split('|'))

t.test('a body is application/json in UTF-8, with or without other parameters', async (t) => {
  for (const type of split(ACCEPTED).flatMap((each) => [`application/json${each}`, `APPLICATION/Json${each}`]))
    t.equal(await create(['Content-Type', type]), 200, type)
})

t.test('any other media type is refused with 415', async (t) => {
  for (const type of [...split(REFUSED).map((each) => `application/json${each}`), ...split(OTHERS)])
    t.equal(await create(['Content-Type', type]), 415, type)
  t.equal(await create(['Content-Type', `application/json${'; v="\\"'.repeat(1500)}`]), 415, 'a long one')
  for (const second of ['application/json', 'text/plain'])
    t.equal(await create(['Content-Type', 'application/json', 'content-type', second]), 415, `and ${second}`)
})

t.test('an encoded body is refused with 415', async (t) => {
  const headers = (encoding: string) => ['Content-Type', 'application/json', 'Content-Encoding', encoding]
  for (const encoding of ['identity', 'Identity']) t.equal(await create(headers(encoding)), 200, encoding)
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
    ['before it is sent', 413, head('Content-Type: application/json\r\nContent-Length: 99999999999')],
    ['none', 400, head('X: y')],
    ['none, chunked', 400, json, '0\r\n\r\n'],
    ['a length of zeros', 400, head('Content-Length: 00')],
  ] as const)
    t.strictSame(statusesOf(await raw(1, ...parts)), [status], what)
})
