// Calls a service; an undocumented answer fails the test.
import { assertDocumented } from '../answers/documented.ts'
import type { Contract } from '../contract/contract.ts'
import { withCredentials } from '../contract/credentials.ts'
import { operationOf } from '../contract/paths.ts'
import { type Answer, type Call, request, toAnswer } from '../http/call.ts'
import { exchange, readResponses } from '../http/responses.ts'
import { fields } from '../json/fields.ts'

/** Strings and bytes to write to a socket. A number pauses for milliseconds. */
export type Parts = (string | Buffer | number)[]

/** Sends a request to a port. An undocumented answer fails the test. */
export async function callAsDocumented(
  contract: Contract,
  port: number,
  what: Call,
): Promise<Answer> {
  const { credentials } = operationOf(contract, what.method ?? 'GET', what.path) ?? {}
  const { token, ...others } = what
  const answer = await request(
    port,
    credentials && token ? withCredentials(others, credentials, token) : what,
  )
  assertDocumented(contract, what.method ?? 'GET', what.path, answer)
  return answer
}

/** Writes bytes to a socket, and reads the answers. An undocumented one fails the test. */
export async function writeAsDocumented(
  contract: Contract,
  port: number,
  count: number,
  parts: Parts,
): Promise<Answer[]> {
  const requests = [
    ...parts.join('').matchAll(/([A-Z]+) +(?:https?:\/\/[^/]+)?([^\s#]+)\S* HTTP\/\d\.\d\r\n/g),
  ]
  const received = await exchange(port, parts, count)
  let index = 0
  return readResponses(received).map(({ status, headers, text }) => {
    const [, method = '', path = ''] = requests[status === 100 ? index : index++] ?? []
    const answer = toAnswer(status, headers, text)
    assertDocumented(contract, method, path, answer)
    return answer
  })
}

/** Returns the answers. If one is a 500 or was cut off, the test fails with the error in the log. */
export async function withoutInternalErrors<Answers extends Answer | Answer[]>(
  log: readonly Record<string, unknown>[],
  answers: Promise<Answers>,
  { method = 'GET', path, failing = false }: Call,
): Promise<Answers> {
  const logged = () =>
    String(fields(log.findLast(({ err }) => err !== undefined)?.['err'])['stack'])
  const received = await answers.catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'ECONNRESET')) throw error
    throw new Error(`${method} ${path} was broken off: ${logged()}`, { cause: error })
  })
  if (failing || [received].flat().every(({ status }) => status !== 500)) return received
  throw new Error(`${method} ${path} answered 500: ${logged()}`)
}
