// Paths and queries of any printable characters, sent to a service; what is valid is said here a second time.
import { strict as assert } from 'node:assert'
import { faultOf } from '../support/own.ts'
import { Choices, mutate, piecesOf } from './choices.ts'
import type { Target } from './target.ts'

const WORDS = piecesOf(
  '0 1 9 - + %2B % %3 %30 %00 %ff %C3%A9 %ED%A0%80 %C0%80 %2F %2f %25 . limit cursor id = & ? ; %26 %3D [] AAAAAAAAAAc ' +
    '__proto__ e 0x _ ~ "',
)
const BORDERS = [0n, 1n, 10n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 63n, 2n ** 64n, 10n ** 30n] as const
const NAMES = ['limit', 'limit', 'cursor', '%6Cimit', 'l%69mit', 'Limit', 'x', '', '__proto__', 'limit[]'] as const
const CURSORS = [
  '',
  ...'AAAAAAAAAAc f_________8 gAAAAAAAAAA AAAAAAAAAAd AAAAAAAAAA -_-_-_-_-_8 %41AAAAAAAAAA'.split(' '),
] as const

/** A request line's method and target. */
export interface Asked {
  readonly method: 'GET' | 'DELETE'
  readonly url: string
}

/** A list with a query, or a delete with an id. */
export function askedOf(choices: Choices): Asked {
  if (choices.below(2) === 0)
    return { method: 'DELETE', url: `/plants/${changed(choices, integerOf(choices)).replaceAll(/[/?]/g, '.')}` }
  const pairs = choices.some(3, () => {
    const name = choices.of(NAMES)
    return `${name}${choices.of(['=', '=', '=', ''])}${choices.of([() => integerOf(choices), () => choices.of(CURSORS)])()}`
  })
  return { method: 'GET', url: `/plants?${changed(choices, pairs.join('&'))}` }
}

function integerOf(choices: Choices): string {
  const near = choices.of(BORDERS) + BigInt(choices.below(5)) - 2n
  return (
    choices.of(['', '', '-', '+', '0', '%2D', '%20']) +
    String(near) +
    choices.of(['', '', '', '.0', 'e0', '%30', '%00'])
  )
}

function changed(choices: Choices, text: string): string {
  const some = choices.below(2) === 0 ? text : mutate(choices, Buffer.from(text), WORDS).toString('latin1')
  return some.replaceAll(/[^!-"$-~]/g, '~') // a # would begin a fragment, which no client sends
}

/** The status of a request of a caller who has no plants. */
function expectedStatus({ method, url }: Asked): number {
  let decoded: string[][]
  const [path = '', ...queries] = url.split('?')
  if (/\/(\.|%2e){1,2}$/i.test(path)) return 404
  try {
    decodeURIComponent(url)
    decoded = queries
      .join('?')
      .split('&')
      .map((pair) => {
        const at = pair.indexOf('=')
        const both = at === -1 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
        return both.map((each) => decodeURIComponent(each.replaceAll('+', ' ')))
      })
  } catch {
    return 400
  }
  if (method === 'DELETE') {
    const id = decodeURIComponent(path.slice('/plants/'.length))
    if (id === '') return 404
    if (!/^(0|-?[1-9][0-9]*)$/.test(id)) return 400
    return BigInt(id) === BigInt.asIntN(64, BigInt(id)) ? 404 : 400
  }
  const valuesOf = (name: string) => decoded.filter(([each]) => each === name).map(([, value = '']) => value)
  const [limits, cursors] = [valuesOf('limit'), valuesOf('cursor')]
  if (limits.length > 1 || cursors.length > 1) return 400
  const isLimit = limits.every((each) => /^[1-9][0-9]*$/.test(each) && Number(each) < 2 ** 31)
  const isCursor = cursors.every(
    (each) => Buffer.from(each, 'base64url').toString('base64url') === each && each.length === 11,
  )
  return isLimit && isCursor ? 200 : 400
}

/** Sends requests in one go, and fails if one is not answered as it must be. */
export async function checkParameters(target: Target, all: readonly Asked[]): Promise<void> {
  const lines = all.map(({ method, url }) => `${method} ${url} HTTP/1.1\r\n${target.headers}\r\n`)
  const answers = await target.exchange(Buffer.from(lines.join('') + target.last))
  for (const [index, asked] of all.entries()) {
    const what = `${asked.method} ${asked.url}`
    const answer = answers[index]
    assert.ok(answer, `${what}: no answer`)
    assert.equal(answer.status, expectedStatus(asked), `${what}: ${answer.text}`)
    assert.equal(faultOf(asked.method, asked.url, answer), undefined)
  }
  assert.equal(answers.length, all.length + 1)
}
