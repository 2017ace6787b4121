import t from 'tap'
import { build } from '../../support/helper.ts'
import { stringify } from '../../support/json.ts'

const { call, token } = await build(t)
const demo = await token('validation')
const named = (value: unknown) => encodeURIComponent(JSON.stringify(value)).slice(0, 60)
const create = (body: unknown) => call({ method: 'POST', path: '/plants', token: demo, body })

t.test('a limit is from 1 to 2147483647, in plain decimal digits; unknown parameters are ignored', async (t) => {
  const refused = '0,-1,-0,0x10,1e1,1.0,1.,+5,%2B5,05,%2010,10%20,,2147483648,a,1_000,%D9%A1,NaN,Infinity,true,null,[1]'
  for (const text of [...refused.split(','), '1,2', '9'.repeat(5000)]) {
    t.equal((await call({ path: `/plants?limit=${text}`, token: demo })).status, 400, text.slice(0, 30))
  }
  for (const query of ['limit', 'limit=1&limit=1', 'limit=1&limit=2', 'limit=&limit=1', 'limit=5&%6Cimit=5']) {
    t.equal((await call({ path: `/plants?${query}`, token: demo })).status, 400, query)
  }
  const unknown = 'x=1,Limit=0,limit[]=0,LIMIT=x,__proto__=1,constructor=1&toString=2,x=1&x=2&=,&&=&'
  for (const query of ['limit=1', 'limit=2147483647', '%6Cimit=%31', '', ...unknown.split(',')]) {
    t.equal((await call({ path: `/plants?${query}`, token: demo })).status, 200, query)
  }
})

t.test('a query is UTF-8 in percent-encoding, also where it is ignored', async (t) => {
  for (const query of ['x=%', 'x=%zz', 'x=%ff', 'x=%C0%80', '%ED%A0%80']) {
    t.equal((await call({ path: `/plants?${query}`, token: demo })).status, 400, query)
  }
})

t.test('an id in a path is an int64 in plain decimal digits', async (t) => {
  const ids = ['0', '-7', '7', '9007199254740993', '9223372036854775807', '-9223372036854775808']
  for (const id of ids) {
    await create(`{"id":${id},"name":"${id}"}`)
    t.equal((await call({ method: 'DELETE', path: `/plants/${id}`, token: demo })).status, 204, id)
    t.equal((await call({ method: 'DELETE', path: `/plants/${id}`, token: demo })).status, 404, `${id} again`)
  }
  const refused = '01,-01,+1,%2B1,1.0,0x10,-0,%20,%201,1%20,1e2,--1,-,a,null,1%00,%D9%A1,1%0A'.split(',')
  const outside = ['9223372036854775808', '-9223372036854775809', '9'.repeat(10_000), '1,2']
  for (const id of [...refused, ...outside]) {
    t.equal((await call({ method: 'DELETE', path: `/plants/${id}`, token: demo })).status, 400, id.slice(0, 30))
  }
})

t.test('a name has 1 to 255 characters, one of them not white space; a tag up to 255', async (t) => {
  const spaces = ',\x20,\t\n,\u00a0,\u2003\u3000,\u0085,\ufeff,\u001c\u001d\u001e\u001f,\u2028\u2029'.split(',')
  for (const name of [...spaces, 'x'.repeat(256), '🌱'.repeat(256), 'a\0b', '\0', 7, true, null, ['x'], {}]) {
    const { status, text } = await create({ id: 1, name })
    t.equal(status, 400, named(name))
    t.match(text, /body\/name/)
  }
  for (const tag of ['x'.repeat(256), '🌱'.repeat(256), '\0', 7, true, null, ['x'], {}]) {
    t.equal((await create({ id: 1, name: 'x', tag })).status, 400, named(tag))
  }
  for (const name of ['\\ud800', '\\udc00x', 'x\\ud83c', '\\udf31\\ud83c']) {
    t.equal((await create(`{"id":1,"name":"${name}"}`)).status, 400, name)
    t.equal((await create(`{"id":1,"name":"x","tag":"${name}"}`)).status, 400, name)
  }
})

t.test('a body has the properties of the contract and no other, none coerced', async (t) => {
  const valid = { id: 1, name: 'x' }
  const bodies = [{ ...valid, extra: 1 }, { id: 1 }, { name: 'x' }, {}, { ...valid, Tag: 'x' }, { ...valid, '': 1 }]
  for (const body of [...bodies, [], [valid], 'null', 'true', '7', '"x"', '{"id":1,"name":"x","toString":1}']) {
    t.equal((await create(body)).status, 400, JSON.stringify(body))
  }
  t.match((await create({ ...valid, colour: 1 })).json, { message: 'body must not have the property colour' })
  t.match((await create({ id: 2n ** 63n, name: 'x' })).json, {
    message: 'body/id must be an integer from -9223372036854775808 to 9223372036854775807',
  })
  t.match((await create({ id: 1, name: '\0' })).json, {
    message:
      'body/name is invalid: The name of the plant. At least one character is not white space. NUL is not allowed.',
  })
})

t.test('a name and a tag are stored and answered to the letter', async (t) => {
  const texts = [' x ', '\tx\n', 'e\u0301', '\u00e9', '\ufb01', 'x'.repeat(255), '🌱'.repeat(255), '"\\/\b\f', '<&>']
  const more = [
    '\u007f\u0001',
    '\ufeffx',
    'x\ufffe\uffff',
    '\u{10ffff}',
    '\u202ex',
    'x\u2028',
    '__proto__',
    'null',
    "';--",
  ]
  const plants = [...texts, ...more].map((text) => ({ name: text, tag: text }))
  for (const [id, plant] of [...plants, { name: 'x', tag: '' }, { name: 'x' }].entries()) {
    const { status, json } = await create(stringify({ id: BigInt(id), ...plant }))
    t.equal(status, 200)
    t.strictSame(json, plant)
  }
  const { json } = await call({ path: '/plants', token: demo })
  t.strictSame(json, [...plants, { name: 'x', tag: '' }, { name: 'x' }])
})
