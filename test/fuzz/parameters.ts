// Paths and queries of any printable characters, sent to a service; the rules of validity stand here a second time.
import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { faultOf } from '../support/contracts/product-contract.ts'
import { border, joined, mutated, piecesOf } from './mutated.ts'
import type { Target } from './fuzz.ts'

const WORDS = piecesOf(
  '0 1 9 - + %2B % %3 %30 %00 %ff %C3%A9 %ED%A0%80 %C0%80 %2F %2f %25 . limit cursor id = & ? ; %26 %3D [] AAAAAAAAAAc ' +
    '__proto__ e 0x _ ~ "',
)
const NAMES = [
  'limit',
  'limit',
  'cursor',
  '%6Cimit',
  'l%69mit',
  'Limit',
  'x',
  '',
  '__proto__',
  'limit[]',
]
const CURSORS =
  'AAAAAAAAAAc f_________8 gAAAAAAAAAA AAAAAAAAAAd AAAAAAAAAA -_-_-_-_-_8 %41AAAAAAAAAA'

/** A request line's method and target. */
export interface Asked {
  readonly method: 'GET' | 'DELETE'
  readonly url: string
}

const sign = fc.constantFrom('', '', '-', '+', '0', '%2D', '%20')
const integer = joined(
  sign,
  border.map(String),
  fc.constantFrom('', '', '', '.0', 'e0', '%30', '%00'),
)
const text = fc.oneof(integer, fc.constantFrom('', ...CURSORS.split(' ')))
const pair = joined(fc.constantFrom(...NAMES), fc.constantFrom('=', '=', '=', ''), text)
const query = fc.array(pair, { maxLength: 3 }).map((pairs) => pairs.join('&'))

/** A part of a target, as it is or changed. A # would begin a fragment, which no client sends. */
function orMutated(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const bytes = text.map((part) => Buffer.from(part))
  const any = fc.oneof(bytes, mutated(bytes, WORDS))
  return any.map((part) => part.toString('latin1').replaceAll(/[^!-"$-~]/g, '~'))
}

/** A list with a query, or a delete with an id. */
export const asked: fc.Arbitrary<Asked> = fc.oneof(
  orMutated(integer).map((id) => ({
    method: 'DELETE' as const,
    url: `/plants/${id.replaceAll(/[/?]/g, '.')}`,
  })),
  orMutated(query).map((query) => ({ method: 'GET' as const, url: `/plants?${query}` })),
)

/** The status of a request of a caller who has no plants. */
function expectedStatus({ method, url }: Asked): number {
  const [path = '', ...queries] = url.split('?')
  if (/\/(\.|%2e){1,2}$/i.test(path)) return 404
  try {
    decodeURIComponent(url)
  } catch {
    return 400
  }
  if (method === 'DELETE') return statusOfDelete(decodeURIComponent(path.slice('/plants/'.length)))
  return statusOfList(new URLSearchParams(`?${queries.join('?')}`)) // it drops one question mark
}

function statusOfDelete(id: string): number {
  if (id === '') return 404
  if (!/^(0|-?[1-9][0-9]*)$/.test(id)) return 400
  return BigInt(id) === BigInt.asIntN(64, BigInt(id)) ? 404 : 400
}

function statusOfList(query: URLSearchParams): number {
  const [limits, cursors] = [query.getAll('limit'), query.getAll('cursor')]
  if (limits.length > 1 || cursors.length > 1) return 400
  const isLimit = limits.every((limit) => /^[1-9][0-9]*$/.test(limit) && Number(limit) < 2 ** 31)
  const isExact = (text: string) => Buffer.from(text, 'base64url').toString('base64url') === text
  return isLimit && cursors.every((cursor) => cursor.length === 11 && isExact(cursor)) ? 200 : 400
}

/** Sends requests in one go, and fails if one is not answered as it must be. */
export async function checkParameters(target: Target, requests: readonly Asked[]): Promise<void> {
  const lines = requests.map(
    ({ method, url }) => `${method} ${url} HTTP/1.1\r\n${target.headers}\r\n`,
  )
  const answers = await target.exchange(Buffer.from(lines.join('') + target.last))
  for (const [index, asked] of requests.entries()) {
    const what = `${asked.method} ${asked.url}`
    const answer = answers[index]
    assert.ok(answer, `${what}: no answer`)
    assert.equal(answer.status, expectedStatus(asked), `${what}: ${answer.text}`)
    assert.equal(faultOf(asked.method, asked.url, answer), undefined)
  }
  assert.equal(answers.length, requests.length + 1)
}
