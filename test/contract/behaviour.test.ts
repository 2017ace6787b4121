// What a contract says of the behaviour of its operations: examples with their answers, and links.
import t from 'tap'
import { linked, namedExamples } from '../support/behaviour.ts'
import { exampleOf, inOrder, toCall } from '../support/requests.ts'
import { operations, start } from './subject.ts'

const { call, token } = await start(t)

t.test('the examples that have a name are answered with the examples of that name, in order', async (t) => {
  const caller = await token('examples')
  const examples = inOrder(operations).flatMap(namedExamples)
  for (const { name, operation, input, status, expected } of examples) {
    const answer = await call({ ...toCall(operation, input), token: caller })
    t.strictSame([answer.status, answer.json], [Number(status), expected], `${operation.id} ${name}`)
  }
})

for (const operation of operations) {
  for (const [status, { links }] of operation.responses) {
    for (const link of links) {
      t.test(`the link ${link.name} of ${operation.id} ${status} leads on`, async (t) => {
        const caller = await token(`${operation.id}-${link.name}`)
        const input = exampleOf(operation)
        const answer = await call({ ...toCall(operation, input), token: caller })
        t.equal(String(answer.status), status)
        const [target, next] = linked(link, operations, operation, input, answer.json)
        const { status: followed } = await call({ ...toCall(target, next), token: caller })
        t.ok(followed >= 200 && followed < 300, `${target.id} answers ${followed}`)
      })
    }
  }
}
