// Runs all tests from a contract against its service.
import { METHODS } from 'node:http'
import t, { type Test } from 'tap'
import type { Product } from '@plant-store/engine'
import { reasonOf } from '@plant-store/engine/for-testing'
import { record } from '../answers/statuses.ts'
import type { Operation } from '../contract/contract.ts'
import { allowOf } from '../contract/paths.ts'
import { exampleOf, namedExamples, toCall } from '../requests/requests.ts'
import { testBody } from './body-tests.ts'
import { testCredentials, testScopes } from './credentials-tests.ts'
import { askExamples, isDone } from './examples.ts'
import { testParameter } from './parameter-tests.ts'
import { type Environment, refuses, Subject } from './subject.ts'
import { testHead, testInputs, testRefusals } from './valid-input-tests.ts'

/** Runs the tests from the contract of a product. @param environment variables, such as `DATABASE_URL` */
export async function testContract(product: Product, environment: Environment = {}): Promise<void> {
  const [kind = 'a file'] = environment['DATABASE_URL']?.split(':') ?? []
  const name = `the contract of ${product.name} on ${kind}`
  await t.test(name, async (t) => {
    const subject = await Subject.start(t, product, environment).catch((error: unknown) => {
      t.fail(`the service does not start: ${reasonOf(error)}`)
    })
    if (subject === undefined) return
    testExamples(t, subject)
    for (const operation of subject.contract.operations) testOperation(t, subject, operation)
    for (const path of subject.contract.paths) testMethods(t, subject, path)
  })
}

function testExamples(t: Test, subject: Subject): void {
  const { ordered, isWhole } = subject

  t.test('the examples of the contract work, POST and PUT first and DELETE last', async (t) => {
    const caller = await subject.newcomer()
    const ask = (operation: Operation) => subject.ask(operation, exampleOf(operation), caller)
    for (const { operation, answer } of await askExamples(ordered, ask)) {
      const { status, text } = answer
      const isFine = isWhole ? isDone(answer) : !refuses(answer)
      t.ok(isFine, `the example of ${operation.id} is answered ${status} ${text}`)
    }
  })

  t.test(
    'a named example of a request is answered with the example of the same name, in order',
    async (t) => {
      const caller = await subject.newcomer()
      for (const { name, operation, input, status, expected } of isWhole
        ? ordered.flatMap(namedExamples)
        : []) {
        const answer = await subject.ask(operation, input, caller)
        t.strictSame(
          [answer.status, answer.json],
          [Number(status), expected],
          `${operation.id} ${name}`,
        )
      }
    },
  )
}

function testOperation(t: Test, subject: Subject, operation: Operation): void {
  const { id, method, parameters } = operation
  testCredentials(t, subject, operation)
  if (!subject.ordered.includes(operation)) {
    const skip = subject.unaskedFor(operation) ?? true
    t.pass(`${id} with valid credentials and input`, { skip })
    if (!subject.service.isWritten(operation)) excuse(subject, operation)
    return
  }
  testScopes(t, subject, operation)
  testInputs(t, subject, operation)
  testRefusals(t, subject, operation)
  if (method === 'GET') testHead(t, subject, operation)
  for (const parameter of parameters) testParameter(t, subject, operation, parameter)
  testBody(t, subject, operation)
}

/** An unwritten method produces no statuses: the run does not demand them. */
function excuse({ contract }: Subject, { id, responses }: Operation): void {
  for (const status of responses.keys()) record(contract, id, status)
}

function testMethods(t: Test, { contract, service }: Subject, path: string): void {
  t.test(
    `${path} answers OPTIONS with Allow, and each undeclared method with 405 and Allow`,
    async (t) => {
      const allow = allowOf(contract, path)
      const own = ['CONNECT', ...allow.split(', ').filter((method) => method !== 'OPTIONS')]
      const [operation] = contract.operations.filter((candidate) => candidate.path === path)
      const url = operation === undefined ? path : toCall(operation, exampleOf(operation)).path
      for (const method of METHODS.filter((name) => !own.includes(name))) {
        const { status, headers } = await service.call({ method, path: url })
        t.equal(status, method === 'OPTIONS' ? 204 : 405, method)
        t.equal(headers['allow'], allow, `Allow for ${method}`)
      }
    },
  )
}
