// Makes the requests of an operation: examples, and valid inputs.
import fc from 'fast-check'
import { contentTypeOf, isWritable, written } from './bodies.ts'
import type { Operation, Parameter } from '../contract/contract.ts'
import type { ListedCall } from '../contract/credentials.ts'
import { canBeSent, isCursor, isList, takes, type Texts, textsFor } from './parameters.ts'
import { isJson } from '../http/media-types.ts'
import { inPairs, isOfMembers } from './objects.ts'
import { arbitraryOf, samplesOf } from '../schemas/samples.ts'

/** The input of an operation: the strings of each parameter, and the body as it is sent. */
export interface Input {
  readonly texts: ReadonlyMap<Parameter, readonly string[]>
  readonly body?: string | undefined
}

/** The methods in the order in which the examples of a contract work. */
const ORDER = [['POST', 'PUT'], ['PATCH'], ['GET'], ['DELETE']]

/** Sorts operations by method: POST and PUT first, DELETE last, otherwise in the order of the document. */
export function inOrder(operations: readonly Operation[]): Operation[] {
  const rank = ({ method }: Operation) => ORDER.findIndex((methods) => methods.includes(method))
  return operations.toSorted((a, b) => rank(a) - rank(b))
}

/** Makes the request for an operation. */
export function toCall(
  { method, path, parameters, ...operation }: Operation,
  { texts, body }: Input,
): ListedCall {
  const pairs = parameters.flatMap((parameter) => sentFor(parameter, texts.get(parameter) ?? []))
  const target = pairs
    .filter((pair) => pair.in === 'path')
    .reduce((url, { name, text }) => url.replace(`{${name}}`, () => text), path)
  const query = pairs
    .filter((pair) => pair.in === 'query')
    .map(({ name, text }) => `${encode(name)}=${text}`)
  const headers = pairs
    .filter((pair) => pair.in === 'header')
    .flatMap(({ name, text }) => [name, text])
  const cookies = pairs
    .filter((pair) => pair.in === 'cookie')
    .flatMap(({ name, text }) => ['Cookie', `${name}=${text}`])
  const type =
    operation.body && body !== undefined ? ['Content-Type', contentTypeOf(operation.body)] : []
  return {
    method,
    path: query.length === 0 ? target : `${target}?${query.join('&')}`,
    headers: [...headers, ...cookies, ...type],
    ...(body !== undefined && { body }),
  }
}

/** A parameter in a request: in its path, query or headers. */
type SentPart = Pick<Parameter, 'in' | 'name'> & { readonly text: string }

/** Writes a parameter into a request. */
function sentFor(parameter: Parameter, texts: Texts): SentPart[] {
  const { in: place, name, sentAs } = parameter
  const encoded = (text: string) => ENCODERS[place]?.(text) ?? text
  if (texts.length === 0) return []
  if (sentAs === 'members' || sentAs === 'deepObject')
    return inPairs(texts).map(([member, text = '']) => {
      const key = sentAs === 'members' ? member : `${name}[${member}]`
      return { in: place, name: key, text: encoded(text) }
    })
  const sent =
    sentAs === 'assignments'
      ? inPairs(texts).map((pair) => pair.map((text = '') => encoded(text)).join('='))
      : texts.map(encoded)
  const isOneText = isOfMembers(parameter) || (parameter.hasCommas && isList(parameter))
  const values = isOneText ? [sent.join(',')] : sent
  return values.map((text) => ({ in: place, name, text }))
}

/** In a path, punctuation is encoded, too: it may separate parameters, or end a path of another operation. */
const ENCODERS: Readonly<Record<string, (text: string) => string>> = {
  query: encode,
  cookie: encode,
  path: (text) =>
    encode(text).replaceAll(/[-_.!~*'()]/g, (mark) => `%${Buffer.from(mark).toString('hex')}`),
}

// A lone surrogate has no valid UTF-8. Its three bytes are invalid.
function encode(text: string): string {
  return text.replaceAll(/./gsu, (character) =>
    character.isWellFormed() ? encodeURIComponent(character) : '%ED%A0%80',
  )
}

/** The same input, with other strings for one parameter. */
export function withTexts(input: Input, parameter: Parameter, ...texts: Texts): Input {
  return { ...input, texts: new Map([...input.texts, [parameter, texts]]) }
}

/** The input from the contract's examples. A required part without an example gets a valid value. */
export function exampleOf(operation: Operation): Input {
  const { parameters, body } = operation
  const texts = parameters.map((parameter) => [parameter, exampleTexts(parameter)] as const)
  const sent = body && exampleBody(operation, body)
  return { texts: new Map(texts), body: sent }
}

function exampleTexts(parameter: Parameter): Texts {
  if (isCursor(parameter)) return []
  const { examples, schema, required } = parameter
  const values = [...examples, ...(required ? samplesOf(schema, 20) : [])]
  const sent = values.map((value) => textsFor(parameter, value))
  return sent.find((texts) => canBeSent(parameter, texts)) ?? []
}

/** By operation: the body, and the strings of parameters, from the examples of the request. */
const bodies = new WeakMap<Operation, string | undefined>()

function exampleBody(operation: Operation, body: NonNullable<Operation['body']>) {
  if (bodies.has(operation)) return bodies.get(operation)
  const values = body.examples.length > 0 ? body.examples : samplesOf(body.schema, 20)
  const value = values.find((candidate) => isWritable(body, candidate))
  const text = value === undefined ? undefined : written(body, value)
  bodies.set(operation, text)
  return text
}

/** The required parts of a request without a valid value. */
export function missingIn(operation: Operation): string[] {
  const { texts, body } = exampleOf(operation)
  const missing = [...texts].filter(([parameter, sent]) => parameter.required && sent.length === 0)
  const names = missing.map(([parameter]) => `the ${parameter.in} parameter ${parameter.name}`)
  return operation.body && body === undefined ? [...names, 'its body'] : names
}

/**
 * Makes valid inputs of an operation, with and without each optional parameter. A body other than JSON is its example.
 * @param cursors given by the list of the example: others are not valid, whatever the schema, nor are these in another list
 */
export function inputsOf(
  operation: Operation,
  cursors: readonly string[] = [],
): fc.Arbitrary<Input> {
  const { parameters, body } = operation
  const example = exampleOf(operation)
  const texts = parameters.map((parameter) => {
    if (isCursor(parameter)) return fc.constantFrom([], ...cursors.map((cursor) => [cursor]))
    const own = example.texts.get(parameter) ?? []
    const sent = arbitraryOf(parameter.schema)
      .map((value) => textsFor(parameter, value))
      // Few random strings are a line of a header.
      .map((letters) =>
        parameter.in === 'header'
          ? letters.map((text) => text.replaceAll(/[^!-+\--~]/gu, 'x'))
          : letters,
      )
      .map((texts) => (canBeSent(parameter, texts) && takes(parameter, ...texts) ? texts : own))
    return parameter.required ? sent : fc.oneof(fc.constant([]), sent)
  })
  const isMade = body !== undefined && isJson(body.type)
  const sent = isMade
    ? arbitraryOf(body.schema).map((value) =>
        isWritable(body, value) ? written(body, value) : example.body,
      )
    : fc.constant(example.body)
  return fc.record({
    texts: fc
      .tuple(...texts)
      .map((sent) => new Map(parameters.map((parameter, index) => [parameter, sent[index] ?? []])))
      .map((sent) => (hasCursor(sent) ? listOf(example, sent) : sent)),
    body: sent,
  })
}

function hasCursor(texts: Input['texts']): boolean {
  return [...texts].some(([parameter, sent]) => isCursor(parameter) && sent.length > 0)
}

/** The parameters of the example's list, with another cursor and limit. */
function listOf(example: Input, texts: Input['texts']): Input['texts'] {
  const isOfPage = (parameter: Parameter) => isCursor(parameter) || parameter.name === 'limit'
  const page = [...texts].filter(([parameter]) => isOfPage(parameter))
  return new Map([...example.texts, ...page])
}

/** The named examples of an operation, each with the answer of the same name. */
export function namedExamples(operation: Operation) {
  const { body, parameters, responses } = operation
  return [...responses].flatMap(([status, { named }]) =>
    Object.entries(named).flatMap(([name, expected]) => {
      const texts = parameters
        .filter((parameter) => name in parameter.named)
        .map((parameter) => [parameter, textsFor(parameter, parameter.named[name])] as const)
      const sent = body && name in body.named ? written(body, body.named[name]) : undefined
      const isAsked = texts.length > 0 || sent !== undefined
      const input: Input = { texts: new Map([...exampleOf(operation).texts, ...texts]), body: sent }
      return isAsked ? [{ name, operation, input, status, expected }] : []
    }),
  )
}
