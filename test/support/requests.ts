import fc from 'fast-check'
import { contentTypeOf, isJson, written } from './bodies.ts'
import type { Operation, Parameter } from './contract.ts'
import type { ListedCall } from './credentials.ts'
import { isCursor, isList, isSendable, takes, type Texts, textsFor } from './parameters.ts'
import { arbitraryOf, samplesOf } from './schemas-arbitrary.ts'

/** The input of an operation: for each parameter a list of texts, and the body as it is sent. */
export interface Input {
  readonly texts: ReadonlyMap<Parameter, readonly string[]>
  readonly body?: string | undefined
}

/** The methods in the order in which the examples of a contract work. */
const ORDER = [['POST', 'PUT'], ['PATCH'], ['GET'], ['DELETE']]

/** Sorts operations by method: POST and PUT first, DELETE last. Otherwise they keep the order of the document. */
export function inOrder(operations: readonly Operation[]): Operation[] {
  const rank = ({ method }: Operation) => ORDER.findIndex((methods) => methods.includes(method))
  return operations.toSorted((a, b) => rank(a) - rank(b))
}

/** Makes the request for an operation. */
export function toCall(
  { method, path, parameters, ...operation }: Operation,
  { texts, body }: Input,
): ListedCall {
  const pairs = parameters.flatMap((each) => {
    const sent = (texts.get(each) ?? []).map((text) => (each.in === 'header' ? text : encode(text)))
    const all = each.hasCommas && isList(each) && sent.length > 0 ? [sent.join(',')] : sent
    return all.map((text) => ({ ...each, text }))
  })
  const target = pairs
    .filter((each) => each.in === 'path')
    .reduce((url, { name, text }) => url.replace(`{${name}}`, () => text), path)
  const query = pairs
    .filter((each) => each.in === 'query')
    .map(({ name, text }) => `${encode(name)}=${text}`)
  const headers = pairs
    .filter((each) => each.in === 'header')
    .flatMap(({ name, text }) => [name, text])
  const type =
    operation.body && body !== undefined ? ['Content-Type', contentTypeOf(operation.body)] : []
  return {
    method,
    path: query.length === 0 ? target : `${target}?${query.join('&')}`,
    headers: [...headers, ...type],
    ...(body !== undefined && { body }),
  }
}

// A lone surrogate has no valid UTF-8. Its three bytes are invalid.
function encode(text: string): string {
  return text.replaceAll(/./gsu, (each) =>
    each.isWellFormed() ? encodeURIComponent(each) : '%ED%A0%80',
  )
}

/** Whether texts can be sent. An empty list can't. */
const canBeSent = (parameter: Parameter, sent: Texts) =>
  sent.length > 0 && sent.every((text) => isSendable(parameter, text))

/** The same input, but with other texts for one parameter. */
export function withTexts(input: Input, parameter: Parameter, ...texts: Texts): Input {
  return { ...input, texts: new Map([...input.texts, [parameter, texts]]) }
}

/** The input from the contract's examples. A required part without an example gets a valid value. */
export function exampleOf({ parameters, body }: Operation): Input {
  const [some] = body === undefined ? [] : [...body.examples, ...samplesOf(body.schema)]
  const texts = parameters.map((each) => {
    const values = [...each.examples, ...(each.required ? samplesOf(each.schema, 20) : [])]
    const sent = values.map((value) => textsFor(each, value)).filter((all) => canBeSent(each, all))
    return [each, isCursor(each) ? [] : (sent[0] ?? [])] as const
  })
  return { texts: new Map(texts), body: body && written(body, some) }
}

/**
 * Makes valid inputs of an operation, with and without each optional parameter. A body that is not JSON is its example.
 * @param cursors those that a list has given: others are not valid, whatever the schema says
 */
export function inputsOf(
  operation: Operation,
  cursors: readonly string[] = [],
): fc.Arbitrary<Input> {
  const { parameters, body } = operation
  const texts = parameters.map((parameter) => {
    if (isCursor(parameter)) return fc.constantFrom([], ...cursors.map((each) => [each]))
    const sent = arbitraryOf(parameter.schema)
      .map((value) => textsFor(parameter, value))
      // Few texts are a line of a header by chance.
      .map((all) =>
        parameter.in === 'header' ? all.map((text) => text.replaceAll(/[^!-+\--~]/gu, 'x')) : all,
      )
      .filter((all) => canBeSent(parameter, all) && takes(parameter, ...all))
    return parameter.required ? sent : fc.oneof(fc.constant([]), sent)
  })
  const isMade = body !== undefined && isJson(body.type)
  const bodies = isMade
    ? arbitraryOf(body.schema).map((value) => written(body, value))
    : fc.constant(exampleOf(operation).body)
  return fc.record({
    texts: fc
      .tuple(...texts)
      .map((all) => new Map(parameters.map((each, index) => [each, all[index] ?? []]))),
    body: bodies,
  })
}

/** The named examples of an operation, with the answers of the same name. */
export function namedExamples(operation: Operation) {
  const { body, parameters, responses } = operation
  return [...responses].flatMap(([status, { named }]) =>
    Object.entries(named).flatMap(([name, expected]) => {
      const texts = parameters
        .filter((each) => name in each.named)
        .map((each) => [each, textsFor(each, each.named[name])] as const)
      const sent = body && name in body.named ? written(body, body.named[name]) : undefined
      const isAsked = texts.length > 0 || sent !== undefined
      const input: Input = { texts: new Map([...exampleOf(operation).texts, ...texts]), body: sent }
      return isAsked ? [{ name, operation, input, status, expected }] : []
    }),
  )
}
