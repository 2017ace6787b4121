// Tries the generator of contract tests on each served construct and on ordinary contracts: the service accepts its valid
// inputs and refuses its invalid ones, and each rule is violated or listed as skipped.
import { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import type { FastifyInstance, InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import { contentTypeOf, textsOfBody } from '../../testing/src/requests/bodies.ts'
import { contractOf, type Operation } from '../../../test/support/inner/documented.ts'
import { withCredentials } from '../../testing/src/contract/credentials.ts'
import { brief } from '../../../test/support/inner/json.ts'
import { isBytes, isJson } from '../../testing/src/http/media-types.ts'
import { textsOf } from '../../testing/src/requests/parameters.ts'
import { product } from '../../../test/support/product/product.ts'
import { exampleOf, toCall } from '../../../test/support/inner/inputs.ts'
import { type Input, inputsOf, missingIn, withTexts } from '../../testing/src/requests/requests.ts'
import type { Schema } from '../../testing/src/schemas/schemas.ts'
import { samplesOf } from '../../testing/src/schemas/samples.ts'
import { tokenOf } from '../../../test/support/contracts/scoped-tokens.ts'
import { boot, type Run, type Served } from '../../../test/support/contracts/serve-contract.ts'
import { BODIES } from './constructs/bodies.ts'
import { DOCUMENTS } from './constructs/documents.ts'
import { PARAMETERS } from './constructs/parameters.ts'
import { RESPONSES } from './constructs/responses.ts'
import { SCHEMAS } from './constructs/schemas.ts'
import { ORDINARY } from './ordinary.ts'

const CONSTRUCTS = { ...DOCUMENTS, ...PARAMETERS, ...BODIES, ...RESPONSES, ...SCHEMAS }
/** The number of valid inputs to try for an operation. */
const INPUTS = 10
const TOKEN = tokenOf('alice', 'read', 'write', 'admin')

/** Rules without an invalid input, by construct: each string is valid, or the format is unknown. */
const SKIPPED: Readonly<Record<string, readonly string[]>> = {
  'a parameter whose alternatives leave its type, or the items of its list, to what is around them':
    ['c/anyOf', 'd/anyOf'].map((rule) => `${rule}: no tried value violates it`),
  'a parameter of several types, a list among them: a string, or each item of a list, is the first of int64, integer, number, boolean, string that its schema takes':
    ['a/anyOf', 'a/anyOf/0/maximum', 'f/items/anyOf/0/maximum', 'g/oneOf']
      .concat('g/oneOf/1/items/maximum', 'h/anyOf')
      .map((rule) => `${rule}: no tried value violates it`),
  "`type: 'null'`, several types, `true` and `false` wherever a schema may stand": [
    ...['properties/d/not', 'properties/f/items/not', 'properties/f/contains'],
    ...['properties/f/unevaluatedItems', 'patternProperties/^y/not'],
  ]
    .map((rule) => `body/${rule}: no generated value has this part: give an example`)
    .concat(
      ['anyOf', 'anyOf/0/not', 'not', 'else/not', 'propertyNames'].map(
        (rule) => `body/${rule}: no tried value violates it`,
      ),
      'body/dependentSchemas/z/not: no generated value has this part: give an example',
    ),
  '`oneOf` with alternatives that require a property of the other side: where several match without it, one that lacks nothing counts':
    ['body/oneOf/1/required/a', 'body/oneOf/2/required/b'].map(
      (rule) => `${rule}: no tried value violates it`,
    ),
  'a schema no value can fit, as a required property which is not allowed': ['its body'],
  'a pattern whose time grows with the square of the length or more, without `maxLength` beside it':
    ['body/propertyNames: no tried value violates it'],
  'a list with `prefixItems` or `unevaluatedItems`': [
    'a/prefixItems/1/type: no tried value violates it',
    'a/items/type: no generated value has this part: give an example',
    'b/prefixItems/0/type: no tried value violates it',
    'b/type: no tried value violates it',
  ],
  'an object in a query with properties by `additionalProperties` or patterns, or without any: it takes all names of the query without another use':
    ['a/minProperties: no tried value violates it'],
  // An object that is empty can't be sent.
  'an object in a path or a header: `b,1,c,x`, or with `explode: true` `b=1,c=x`': [
    'X-A/required/b: no tried value violates it',
    'X-B/required/b: no tried value violates it',
  ],
  'a format that is unknown, or not for the type': [0, 1, 2, 3].map(
    (index) => `body/prefixItems/${index}/format: the format validates nothing here`,
  ),
}

for (const [name, construct] of Object.entries(CONSTRUCTS)) {
  if (typeof construct === 'string' || construct.asks === undefined) continue
  t.test(`a construct that is served: ${name}`, async (t) =>
    t.strictSame(await skippedIn(t, construct), SKIPPED[name] ?? []),
  )
}

for (const [name, { skipped = [], ...served }] of Object.entries(ORDINARY)) {
  t.test(`an ordinary contract: ${name}`, async (t) =>
    t.strictSame(await skippedIn(t, served), skipped),
  )
}

/** Sends the generated inputs of a contract. @returns the skipped rules */
async function skippedIn(t: Test, served: Served): Promise<string[]> {
  const operations: Operation[] = []
  const answer: Run = async (_, id) => {
    const operation = operations.find((candidate) => candidate.id === id)
    return operation ? answerOf(operation) : { status: 204 }
  }
  const app = await boot(t, { ...served, run: answer })
  const { href } = pathToFileURL(`${t.testdirName}/openapi.yaml`)
  const own = { ...product, ...served.product, contract: { ...product.contract, file: href } }
  operations.push(...(await contractOf(own)).operations)
  t.not(operations.length, 0)
  const skipped: string[] = []
  for (const operation of operations) skipped.push(...(await holdsFor(t, app, operation)))
  return skipped
}

async function holdsFor(t: Test, app: FastifyInstance, operation: Operation): Promise<string[]> {
  if (operation.isGuarded && operation.credentials === undefined) return []
  const missing = missingIn(operation)
  if (missing.length > 0) return missing
  const expect = expecting(t, app, operation)
  await expect(exampleOf(operation), 'its example')
  for (const input of fc.sample(inputsOf(operation), { numRuns: INPUTS, seed: 1 }))
    await expect(input, brief(input.body ?? [...input.texts.values()]))
  const ofParameters = await holdsForParameters(operation, expect)
  const ofBody = await holdsForBody(operation, expect)
  return [...ofParameters, ...ofBody]
}

/** Sends an input of an operation. The test fails unless the operation accepts it, or answers with the given status. */
type Expect = (input: Input, label: string, status?: number) => Promise<void>

function expecting(t: Test, app: FastifyInstance, operation: Operation): Expect {
  return async (input, label, expected) => {
    const call = toCall(operation, input)
    const { headers, path, method, body } = withCredentials(
      call,
      operation.credentials ?? [],
      TOKEN,
    )
    const request: InjectOptions = { method: method as 'GET', url: path, headers: byName(headers) }
    const { statusCode: status, payload } = await app.inject(
      typeof body === 'string' ? { ...request, payload: body } : request,
    )
    const isExpected = expected === undefined ? status < 300 : status === expected
    if (isExpected) return
    const verb = expected === undefined ? 'accepts' : 'refuses'
    t.fail(`${operation.id} ${verb} ${label}`, { status, payload, path: call.path })
  }
}

async function holdsForParameters(operation: Operation, expect: Expect): Promise<string[]> {
  const example = exampleOf(operation)
  const rules: string[] = []
  for (const parameter of operation.parameters) {
    const { sent, skipped } = textsOf(parameter)
    // The service refuses invalid UTF-8 before it knows the parameter.
    for (const { texts, isRight } of sent.filter(({ texts }) => texts.join().isWellFormed()))
      await expect(withTexts(example, parameter, ...texts), brief(texts), isRight ? undefined : 400)
    rules.push(...skipped.map(({ rule, reason }) => `${parameter.name}${rule}: ${reason}`))
  }
  return rules
}

async function holdsForBody(operation: Operation, expect: Expect): Promise<string[]> {
  const { body } = operation
  if (body === undefined || !isJson(body.type)) return []
  const example = exampleOf(operation)
  const { sent, skipped } = textsOfBody(body)
  for (const { label, text, status } of sent)
    await expect({ ...example, body: text }, label, status)
  return skipped.map(({ rule, reason }) => `body${rule}: ${reason}`)
}

/** Headers by name. Repeated ones are lists. */
function byName(headers: readonly string[]): Record<string, string | string[]> {
  const pairs = headers.flatMap((name, index) =>
    index % 2 === 0 ? [[name, headers[index + 1] ?? '']] : [],
  )
  const grouped = Map.groupBy(pairs, ([name = '']) => name)
  const entries = [...grouped].map(
    ([name, values]) => [name, values.map(([, value = '']) => value)] as const,
  )
  return Object.fromEntries(
    entries.map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]),
  )
}

/** A valid answer of an operation, with its first success status. */
function answerOf({ method, responses }: Operation): Awaited<ReturnType<Run>> {
  const [key = '204', response] = [...responses].find(([key]) => /^(2|default)/.test(key)) ?? []
  const status = Number(key.replace(/xx$/i, '00').replace('default', '200'))
  if (response === undefined || status === 204 || method === 'HEAD') return { status }
  const [body] = response.schemas
  return body === undefined ? { status } : { status, ...contentOf(...body) }
}

/** A valid event. Without a schema its data is a string. */
function eventOf(schema: Schema): object {
  const isText = Object.keys(schema).length === 0
  return { data: isText ? 'x' : samplesOf(schema)[0] }
}

function contentOf(type: string, schema: Schema): { type?: string; body: unknown } {
  if (type === 'text/event-stream') return { body: Readable.from([eventOf(schema)]) }
  const isAny = type === '*/*'
  if (isBytes(type) && !isAny) return { type: contentTypeOf({ type }), body: Buffer.from('x') }
  const [sample] = isJson(type) || isAny ? samplesOf(schema) : ['x']
  return { body: sample }
}
