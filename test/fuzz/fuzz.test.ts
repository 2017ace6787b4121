// A short form of `npm run fuzz`, and the bounds of the time for an input.
import t, { type Test } from 'tap'
import { parseJson } from '@plant-store/engine/for-store'
import { startTarget } from './fuzz.ts'
import { checkJson } from './json.ts'
import { type Asked, checkParameters } from './parameters.ts'
import { checkRequests } from './requests.ts'

const { empty, any, fuzz, end } = await startTarget(t, `${t.testdir()}/plants.db`)
const seed = Math.floor(Math.random() * 2 ** 31)

// Inputs with which fuzzing has found errors, or must find them.
const texts =
  String.raw`-0 {"a:b":":","\":":1} {"id":1,"\u0069d":1} 9223372036854775807.0e0 9007199254740992.5
  -9223372036854775808e-0 {"a":[{"\udf31\ud83c":1}]} "\\ud83c"`.split(/\s+/)
const kept: readonly Asked[] = [
  { method: 'GET', url: '/plants?limit=1&l%69mit=1' },
  { method: 'GET', url: '/plants?cursor=f_________8&x=%C3%A9' },
  { method: 'DELETE', url: '/plants/%2D9223372036854775808' },
  { method: 'DELETE', url: '/plants/7%00' },
]

t.test('what fuzzing has found stays fixed', async (t) => {
  for (const text of [...texts, '"\xed\xa0\x80"', '"\xf4\x90\x80\x80"'])
    checkJson(Buffer.from(text, 'latin1'))
  await checkParameters(empty, kept)
  const coded =
    'POST /plants HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'
  await checkRequests(any, Buffer.from(`${coded}DELETE /plants/7 HTTP/1.1\r\nHost: h\r\n\r\n`))
  t.pass()
})

const INPUTS = { json: 5000, parameters: 1000, requests: 500 }
for (const name of ['json', 'parameters', 'requests'] as const) {
  const inputs = INPUTS[name]
  t.test(`${inputs} inputs of the target ${name} are answered as they must be`, async (t) => {
    t.comment({ seed })
    t.ok((await fuzz[name](inputs, seed)) >= inputs)
  })
}

const repeated = (text: string, size: number) =>
  text.repeat(Math.ceil(size / text.length)).slice(0, size)
const many = (size: number, text: (index: number) => string) =>
  Array.from({ length: size }, (_, index) => text(index)).join()
const GROWING: Readonly<Record<string, (size: number) => string>> = {
  'a long string': (size) => `"${'a'.repeat(size)}"`,
  'a string of escapes': (size) => `"${repeated('\\"', size)}"`,
  'a string of backslashes that does not end': (size) => `"${'\\\\'.repeat(size / 2)}`,
  'strings of colons': (size) => `[${many(size / 4, () => '":"')}]`,
  'white space': (size) => `${' '.repeat(size)}0`,
  'members of many names': (size) => `{${many(size / 10, (index) => `"${index}":0`)}}`,
  'members of one name': (size) => `{${many(size / 6, () => '"1":0')}}`,
  'nested lists': (size) => '['.repeat(size / 2) + ']'.repeat(size / 2),
  'lists that do not end': (size) => '['.repeat(size),
  'large numbers': (size) => `[${many(size / 20, () => '9007199254740993')}]`,
  'numbers with exponents': (size) => `[${many(size / 6, () => '1e-99')}]`,
  'numbers almost too long to be exact': (size) => `[${many(size / 16, () => '123456789012345')}]`,
  'a long integer': (size) => '7'.repeat(size),
  'a long fraction that ends': (size) => `1.${'0'.repeat(size)}1`,
  'zeros that an exponent takes away': (size) => `1${'0'.repeat(size)}e-${size}`,
  'zeros that an exponent makes up for': (size) => `0.${'0'.repeat(size)}7e${size}`,
  'a long exponent': (size) => `1e${'9'.repeat(size)}`,
}

/** Times of requests, with one line of this size each. */
const LARGE: Readonly<
  Record<string, (size: number) => readonly [requestLine: string, header?: string]>
> = {
  'an id of digits': (size) => [`DELETE /plants/${'7'.repeat(size)}`],
  'a path of slashes': (size) => [`GET ${'/'.repeat(size)}`],
  'a limit': (size) => [`GET /plants?limit=${'7'.repeat(size)}`],
  limits: (size) => [`GET /plants?${repeated('limit&', size)}`],
  'a cursor': (size) => [`GET /plants?cursor=${'A'.repeat(size)}`],
  'parameters of a media type': (size) => [
    'POST /plants',
    `Content-Type: application/json${repeated(';a=b', size)};`,
  ],
  'a text in a media type': (size) => [
    'POST /plants',
    `Content-Type: application/json;a="${repeated('\\"', size)}`,
  ],
  'an X-Request-Id': (size) => ['GET /plants', `X-Request-Id: ${repeated('plant_0', size)}`],
  'header lines': (size) => ['GET /plants', `${'X: y\r\n'.repeat(size / 6)}X: y`],
}

/** Refused input takes time, too. */
const parse = (bytes: Buffer) => Promise.try(parseJson, bytes).catch(() => undefined)

for (const [name, make] of Object.entries(GROWING)) {
  t.test(`four times as much JSON takes about four times as long: ${name}`, async (t) => {
    await assertLinear(t, (size) => {
      const bytes = Buffer.from(make(size))
      return least(40, () => parse(bytes))
    })
  })
}

for (const [name, make] of Object.entries(LARGE)) {
  t.test(`a request of four times the size takes about four times as long: ${name}`, async (t) => {
    const { headers, last, exchange } = empty
    await assertLinear(t, (size) => {
      const [requestLine, header = 'X: y'] = make(size)
      const bytes = Buffer.from(
        `${requestLine} HTTP/1.1\r\n${headers}${header}\r\n\r\n`.repeat(10) + last,
      )
      return least(5, () => exchange(bytes))
    })
  })
}

t.test('nothing of it was unforeseen', async (t) => {
  await t.resolves(end())
})

/** Fails if it is always more: on a busy machine it may be so once. */
async function assertLinear(t: Test, timeOf: (size: number) => Promise<number>): Promise<void> {
  let ratio = Infinity
  for (let tries = 0; tries < 5 && ratio > 6; tries += 1)
    ratio = (await timeOf(14_000)) / (await timeOf(3500))
  t.ok(ratio <= 6, `${ratio} times as long`)
}

/** The least of the times of some runs, in milliseconds. */
async function least(runs: number, run: () => Promise<unknown>): Promise<number> {
  let time = Infinity
  for (let left = runs; left > 0; left -= 1) {
    const start = performance.now()
    await run()
    time = Math.min(time, performance.now() - start)
  }
  return time
}
