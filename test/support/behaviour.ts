// What a contract says about the behaviour of operations: named examples and links.
import type { Link, Operation } from './contract.ts'
import { exampleOf, type Input } from './requests.ts'
import { stringify } from './json.ts'
import { fields } from './schemas.ts'

/** The named examples of an operation, with the answers of the same name. */
export function namedExamples(operation: Operation) {
  const { body, parameters, responses } = operation
  return [...responses].flatMap(([status, { named }]) =>
    Object.entries(named).flatMap(([name, expected]) => {
      const texts = parameters
        .filter((each) => name in each.named)
        .map((each) => [each, [String(each.named[name])]] as const)
      const isAsked = texts.length > 0 || (body !== undefined && name in body.named)
      const input: Input = { texts: new Map([...exampleOf(operation).texts, ...texts]), body: body?.named[name] }
      return isAsked ? [{ name, operation, input, status, expected }] : []
    }),
  )
}

/** The operation that a link leads to, and its input. @throws {Error} for a link without a target */
export function linked(
  { operationId, parameters }: Link,
  operations: readonly Operation[],
  from: Operation,
  input: Input,
  answer: unknown,
): [Operation, Input] {
  const target = operations.find(({ id }) => id === operationId)
  if (target === undefined) throw new Error(`a link leads to ${operationId}, which is no operation`)
  const example = exampleOf(target)
  const texts = Object.entries(parameters).map(([name, expression]) => {
    const parameter = target.parameters.find((each) => each.name === name || `${each.in}.${each.name}` === name)
    const value = evaluate(String(expression), from, input, answer)
    if (parameter === undefined || value === undefined) throw new Error(`${String(expression)} is nothing for ${name}`)
    return [parameter, [typeof value === 'string' ? value : stringify(value)]] as const
  })
  return [target, { ...example, texts: new Map([...example.texts, ...texts]) }]
}

/** Evaluates a runtime expression (OpenAPI 3.1.0, section 4.8.20.4). Any other text is a constant. */
function evaluate(expression: string, { parameters }: Operation, { texts, body }: Input, answer: unknown): unknown {
  const [, source, pointer, place, name] =
    /^\$(request|response)\.(?:body#(.*)|(path|query|header)\.(.*))$/.exec(expression) ?? []
  if (source === undefined) return expression
  if (pointer === undefined) {
    const parameter = parameters.find((each) => each.in === place && each.name === name)
    return parameter && texts.get(parameter)?.[0]
  }
  const keys = pointer.split('/').slice(1)
  return keys.reduce((each, key) => fields(each)[key], source === 'request' ? body : answer)
}
