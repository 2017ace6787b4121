// Tests of a parameter of an operation.
import type { Test } from 'tap'
import type { Operation, Parameter } from '../contract/contract.ts'
import { brief } from '../json/json.ts'
import { isOfMembers } from '../requests/objects.ts'
import { isList, textsFor, textsOf } from '../requests/parameters.ts'
import { exampleOf, toCall, withTexts } from '../requests/requests.ts'
import { samplesOf } from '../schemas/samples.ts'
import { nameSkipped, refuses, type Subject } from './subject.ts'

export function testParameter(
  t: Test,
  subject: Subject,
  operation: Operation,
  parameter: Parameter,
): void {
  const { in: place, name, required } = parameter
  const { id } = operation
  const example = exampleOf(operation)

  t.test(`${id} refuses each violation of the ${place} parameter ${name}`, async (t) => {
    const caller = await subject.callerOf(operation)
    const ask = (...texts: string[]) =>
      subject.ask(operation, withTexts(example, parameter, ...texts), caller)
    const { sent, skipped } = textsOf(parameter)
    for (const { texts, isRight } of sent) {
      const answer = await ask(...texts)
      if (isRight) t.notOk(refuses(answer), `${brief(texts)} is accepted`)
      else t.equal(answer.status, 400, `${brief(texts)} is refused`)
    }
    nameSkipped(t, `${id}, ${name}`, skipped)
    if (place === 'path') return
    if (!isList(parameter) && !isOfMembers(parameter)) {
      const [text = ''] = [
        ...(example.texts.get(parameter) ?? []),
        ...samplesOf(parameter.schema).flatMap((value) => textsFor(parameter, value)),
      ]
      t.equal((await ask(text, text)).status, 400, 'it is not repeated')
    }
    const absent = await ask()
    if (required) t.equal(absent.status, 400, 'it is required')
    else t.notOk(refuses(absent), 'it is not required')
  })

  if (place === 'header' || place === 'cookie') return
  t.test(`${id} refuses a bad encoding of the ${place} parameter ${name}`, async (t) => {
    const texts = isOfMembers(parameter) ? ['a', 'BAD'] : ['BAD']
    const { path, ...request } = toCall(operation, withTexts(example, parameter, ...texts))
    for (const text of ['%', '%zz', '%ff', '%C0%80', '%ED%A0%80']) {
      const bad = { ...request, path: path.replace('BAD', text) }
      const { status } = await subject.send(bad, await subject.newcomer())
      t.equal(status, 400, `${text} is refused`)
    }
  })
}
