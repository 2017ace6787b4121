// Tests of the body of an operation.
import type { Test } from 'tap'
import type { Operation } from '../contract/contract.ts'
import { withCredentials } from '../contract/credentials.ts'
import { isJson } from '../http/media-types.ts'
import { brief } from '../json/json.ts'
import { type Body, contentTypeOf, textsOfBody } from '../requests/bodies.ts'
import { exampleOf, toCall } from '../requests/requests.ts'
import { nameSkipped, refuses, type Subject } from './subject.ts'

/** The most bytes to send. */
const MAX_SENT = 2 ** 26

export function testBody(t: Test, subject: Subject, operation: Operation): void {
  const { id, body } = operation
  if (body === undefined) return
  testType(t, subject, operation, body)
  if (isJson(body.type)) {
    testViolations(t, subject, operation, body)
    testJson(t, subject, operation, body)
  } else {
    t.pass(`${id} with other bodies than its example`, { skip: `${body.type} is not JSON` })
  }
}

/** Sends bodies with changed headers. @returns the status */
type Send = (sent: string | Buffer | undefined, ...added: string[]) => Promise<number>

/** Sends as a caller, after the examples of earlier operations. */
async function sender(subject: Subject, operation: Operation): Promise<Send> {
  const caller = await subject.callerOf(operation)
  const request = toCall(operation, { ...exampleOf(operation), body: undefined })
  return async (body, ...added) => {
    const headers = [...request.headers, ...added]
    return (await subject.send({ ...request, headers, body }, caller)).status
  }
}

function testType(t: Test, subject: Subject, operation: Operation, body: Body): void {
  const { id } = operation
  const type = ['Content-Type', contentTypeOf(body)]

  t.test(
    `${id} refuses a body of another type, an encoded and a too long one, and none if it needs one`,
    async (t) => {
      const send = await sender(subject, operation)
      const sent = exampleOf(operation).body || 'x' // an empty string is no body
      const isMissing = (await send(undefined, 'Content-Length', '0')) === 400
      t.equal(isMissing, body.required, 'no body is refused if the operation needs one')
      const isTaken = (type: string) =>
        [type, type.replace(/\/.*/, '/*'), '*/*'].some((range) => body.types.includes(range))
      for (const type of ['', 'text/plain', 'application/xml', 'image/x-other'].filter(
        (type) => !isTaken(type),
      )) {
        t.equal(await send(sent, 'Content-Type', type), 415, `the type "${type}" is refused`)
      }
      const compressed = await send(sent, ...type, 'Content-Encoding', 'gzip')
      t.equal(compressed, 415, 'a compressed body is refused')
      if (body.limit > MAX_SENT) t.pass('a longer body', { skip: `up to ${body.limit} bytes` })
      else t.equal(await send(sent.padEnd(body.limit + 1), ...type), 413, 'a longer one')
      t.equal(
        await statusWithoutType(subject, operation, sent),
        415,
        'a body of no type is refused',
      )
    },
  )
}

/** Sends a body without the `Content-Type` of Node's client. */
async function statusWithoutType(
  subject: Subject,
  operation: Operation,
  body: string,
): Promise<number | undefined> {
  const caller = (await subject.callerOf(operation)) ?? ''
  const bodiless = toCall(operation, { ...exampleOf(operation), body: undefined })
  const { path, headers } = withCredentials(bodiless, operation.credentials ?? [], caller)
  const lines = headers.map((text, index) => text + (index % 2 === 0 ? ': ' : '\r\n'))
  const head = `${operation.method} ${path} HTTP/1.1\r\nHost: h\r\n${lines.join('')}`
  const length = `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`
  const [answer] = await subject.service.raw(1, head + length + body)
  return answer?.status
}

function testViolations(t: Test, subject: Subject, operation: Operation, body: Body): void {
  const { id } = operation
  const example = exampleOf(operation)

  t.test(`${id} refuses each violation of its body`, async (t) => {
    const caller = await subject.callerOf(operation)
    const { sent, skipped } = textsOfBody(body)
    for (const { label, text, status } of sent) {
      const answer = await subject.ask(operation, { ...example, body: text }, caller)
      if (status === undefined) t.notOk(refuses(answer), `body${label} is accepted`)
      else t.equal(answer.status, status, `body${label} is refused`)
    }
    nameSkipped(t, `${id}, body`, skipped)
  })
}

function testJson(t: Test, subject: Subject, operation: Operation, body: Body): void {
  const type = ['Content-Type', contentTypeOf(body)]
  const { body: json = '' } = exampleOf(operation)

  t.test(`${operation.id} refuses a body other than JSON in UTF-8`, async (t) => {
    const send = await sender(subject, operation)
    for (const text of [
      ' ',
      json.slice(0, -1),
      `${json},`,
      `\uFEFF${json}`,
      '{"a":1,"a":1}',
      '{"__proto__":1}',
    ]) {
      t.equal(await send(text, ...type), 400, `${brief(text)} is refused`)
    }
    t.equal((await send('', ...type)) === 400, body.required, 'an empty string is no body')
    const latin1 = await send(Buffer.from('"\xFF"', 'latin1'), ...type)
    t.equal(latin1, 400, 'invalid UTF-8 is refused')
    t.equal(await send(Buffer.from(json, 'utf16le'), ...type), 400, 'UTF-16 is refused')
    const utf16 = ['Content-Type', `${body.type}; charset=utf-16`]
    t.equal(await send(json, ...utf16), 415, 'UTF-16 is refused by its name')
  })
}
