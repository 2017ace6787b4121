// Tests of the credentials of an operation.
import type { Test } from 'tap'
import type { Operation } from '../contract/contract.ts'
import { faultFor } from '../requests/parameters.ts'
import { exampleOf, type Input, toCall, withTexts } from '../requests/requests.ts'
import { issueTokenOf } from '../service/access-tokens.ts'
import { badCredentials } from '../service/bad-credentials.ts'
import { refuses, type Subject } from './subject.ts'

export function testCredentials(t: Test, subject: Subject, operation: Operation): void {
  const { id, parameters, body } = operation
  const { service, ordered } = subject
  const example = exampleOf(operation)

  if (!operation.isGuarded) {
    if (!ordered.includes(operation)) return
    t.test(`${id} needs no credentials`, async (t) => {
      t.notOk(refuses(await service.call(toCall(operation, example))))
    })
    return
  }

  t.test(`${id} wants credentials, before anything else is looked at`, async (t) => {
    const broken: Input = { ...example, body: body && '{"broken' }
    const faulty = parameters.reduce(
      (input, parameter) => withTexts(input, parameter, ...faultFor(parameter)),
      broken,
    )
    for (const [name, [change, challenge]] of await badCredentials(service, operation)) {
      for (const request of [toCall(operation, example), toCall(operation, faulty)]) {
        const { status, headers } = await service.call(change(request))
        t.equal(status, 401, `401 for ${name}`)
        t.match(headers['www-authenticate'], /^\w+ realm=/)
        if (challenge !== undefined)
          t.equal(headers['www-authenticate'], challenge, `the challenge for ${name}`)
      }
    }
  })
}

export function testScopes(t: Test, subject: Subject, operation: Operation): void {
  const { product, store } = subject.service
  if (!operation.isGuarded || !operation.isScoped || store === undefined) return

  t.test(`${operation.id} answers 403 to a token without a scope`, async (t) => {
    const token = await issueTokenOf(product, store, 'unscoped')
    t.equal((await subject.ask(operation, exampleOf(operation), token)).status, 403)
  })
}
