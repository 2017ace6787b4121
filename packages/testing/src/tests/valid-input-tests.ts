// Tests of an operation with valid input.
import fc from 'fast-check'
import type { Test } from 'tap'
import type { Operation } from '../contract/contract.ts'
import { cursorsOf } from '../requests/cursors.ts'
import { isCursor } from '../requests/parameters.ts'
import { exampleOf, inputsOf, toCall } from '../requests/requests.ts'
import { refuses, signed, type Subject } from './subject.ts'

export function testInputs(t: Test, subject: Subject, operation: Operation): void {
  const { id, parameters } = operation

  t.test(`${id} accepts all valid input, and answers a newcomer, too`, async (t) => {
    const { inputs, ordered } = subject
    t.notOk(refuses(await subject.ask(operation, exampleOf(operation), await subject.newcomer())))
    const caller = await subject.callerOf(operation)
    const send = subject.send.bind(subject)
    const cursors = await cursorsOf(operation, ordered, (request) => send(request, caller))
    const skip =
      cursors.length === 0 && parameters.some(isCursor) && 'no list of these tests had a Link'
    t.pass(`${id} with a cursor`, { skip })
    const requests = inputsOf(operation, cursors).map((input) => toCall(operation, input))
    const property = fc.asyncProperty(requests, async (request) => {
      const answer = await send(request, caller)
      if (refuses(answer)) throw new Error(`${id} answered ${answer.status} ${answer.text}`)
    })
    await fc.assert(property, { numRuns: inputs, includeErrorInReport: true })
  })
}

export function testRefusals(t: Test, subject: Subject, operation: Operation): void {
  const { id, responses } = operation

  t.test(
    `${id} answers 417 to an expectation, and 503 while the store is away, as declared`,
    async (t) => {
      const { call, store, token } = await subject.startAgain(t)
      const input = toCall(operation, exampleOf(operation))
      const request = signed(input, store && (await token('late')))
      const headers = [...input.headers, 'Expect', 'nonsense']
      t.equal((await call({ ...request, headers })).status, 417)
      if (store === undefined) return
      await store.close()
      const { status } = await call(request)
      if (responses.has('503')) t.equal(status, 503)
    },
  )
}

export function testHead(t: Test, subject: Subject, operation: Operation): void {
  t.test(`${operation.id} answers HEAD as it does GET, without the body`, async (t) => {
    const caller = await subject.callerOf(operation)
    const request = toCall(operation, exampleOf(operation))
    const get = await subject.send(request, caller)
    const { status, headers } = await subject.send({ ...request, method: 'HEAD' }, caller)
    const { date: _date, 'x-request-id': _id, ...others } = headers
    t.equal(status, get.status)
    t.hasStrict(get.headers, others)
  })
}
