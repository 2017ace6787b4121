// Whole requests, several on a connection, with bytes changed anywhere.
import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { faultOf } from '../support/contracts/product-contract.ts'
import { shapes } from '../support/network/framing-shapes.ts'
import { mutated, piecesOf } from './mutated.ts'
import type { Target } from './fuzz.ts'

const WORDS = piecesOf(
  ': , ; " % %00 / ? = # * 0 -1 GET POST DELETE OPTIONS TRACE CONNECT QUERY HTTP/1.0 HTTP/1.1 HTTP/2.0 http://h Bearer chunked é 🌱',
  ...['\r\n', '\r', '\n', '\r\n\r\n', ' ', '\t', '\0', '\x7f', '\v', '1\r\n'],
  ...[
    ...[
      'Content-Length: 5',
      'Transfer-Encoding: chunked',
      'Connection: close',
      'Connection: Upgrade',
      'Upgrade: h2c',
    ],
    ...[
      'Expect: 100-continue',
      'Host: x',
      'Content-Type: application/json',
      'Content-Encoding: gzip',
    ],
    'X-Request-Id: a',
  ].map((header) => `${header}\r\n`),
  ...['x'.repeat(300), 'X: y\r\n'.repeat(40), '9'.repeat(40)],
  ...['ff', 'c0af', 'eda080', '1603010005'].map((digits) => Buffer.from(digits, 'hex')),
)
/** Requests as they are, to be changed. HEAD is none of them: where its answer ends, only its request says. */
function corpusOf({ headers }: Target): Buffer[] {
  const [, token = ''] = /Bearer (\S+)/.exec(headers) ?? []
  const json = '{"id": 7, "name": "Rose", "tag": "indoor"}'
  const post = `POST /plants HTTP/1.1\r\n${headers}Content-Type: application/json; charset=utf-8\r\n`
  const texts = [
    `GET /plants?limit=20&cursor=AAAAAAAAAAc HTTP/1.1\r\n${headers}Accept: */*\r\n\r\n`,
    `${post}Content-Length: ${json.length}\r\n\r\n${json}`,
    `${post}Transfer-Encoding: chunked\r\n\r\n${json.length.toString(16)}\r\n${json}\r\n0\r\n\r\n`,
    `${post}Expect: 100-continue\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
    `DELETE /plants/7 HTTP/1.1\r\n${headers}\r\n`,
    `OPTIONS /plants/7 HTTP/1.1\r\nHost: h\r\n\r\n`,
    `GET /plants HTTP/1.1\r\nHost: h\r\n\r\n`,
    ...Object.values(shapes(token)).map(([bytes]) => bytes),
  ]
  return texts.map((text) => Buffer.from(text, 'latin1'))
}

/** One to three requests, of which most are changed. */
export function requestsTo(target: Target): fc.Arbitrary<Buffer> {
  const request = fc.constantFrom(...corpusOf(target))
  const changed = { weight: 3, arbitrary: mutated(request, WORDS) }
  return fc
    .array(fc.oneof(request, changed), { minLength: 1, maxLength: 3 })
    .map((parts) => Buffer.concat(parts))
}

/** The known statuses: `default` in a contract would accept any other. */
const STATUSES = new Set([
  100, 200, 204, 400, 401, 404, 405, 408, 409, 413, 415, 417, 431, 501, 505,
])

/** The possible requests of an answer: only the service knows which one it is. */
const CANDIDATES = {
  '/nowhere': ['GET'],
  '/plants': ['GET', 'POST', 'OPTIONS'],
  '/plants/7': ['DELETE'],
}

/** In milliseconds: if it were too short on a busy machine, there would be fewer answers to check. */
const QUIET = 100

/** Sends bytes. Fails for an answer outside of the contract, and for an unexpected error. */
export async function checkRequests(target: Target, bytes: Buffer): Promise<void> {
  const answers = await target.exchange(Buffer.concat([bytes, Buffer.from(target.last)]), QUIET)
  for (const answer of answers) {
    const isDocumented = Object.entries(CANDIDATES).some(([url, methods]) =>
      methods.some((method) => faultOf(method, url, answer) === undefined),
    )
    assert.ok(
      isDocumented,
      `an answer ${answer.status} that is not in the contract: ${JSON.stringify(answer)}`,
    )
    assert.ok(STATUSES.has(answer.status), `${answer.status}: ${answer.text}`)
  }
}
