// What a contract says of its operations, whatever they are, held against the service.
import { METHODS } from 'node:http'
import { resolve } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { Product } from '@plant-store/engine'
import { contentTypeOf, textsOfBody } from '../requests/bodies.ts'
import { contractOf, type Operation } from '../contract/contract.ts'
import { withCredentials } from '../contract/credentials.ts'
import { cursorsOf } from '../requests/cursors.ts'
import { type Answer, build } from '../../../../test/support/helper.ts'
import { brief } from '../json/json.ts'
import { isJson } from '../http/media-types.ts'
import { isOfMembers } from '../requests/objects.ts'
import { allowOf } from '../contract/paths.ts'
import {
  faultFor,
  isCursor,
  isList,
  textsFor,
  textsOf,
} from '../requests/parameters.ts'
import {
  exampleOf,
  inOrder,
  type Input,
  inputsOf,
  missingIn,
  namedExamples,
  toCall,
  withTexts,
} from '../requests/requests.ts'
import { samplesOf } from '../schemas/arbitrary.ts'
import type { Skipped } from '../schemas/violations.ts'
import { record } from '../answers/statuses.ts'
import { badCredentials, issueTokenOf } from '../../../../test/support/tokens.ts'

const { PRODUCT = 'service/product.ts', DATABASE_URL } = process.env
// The product of the project; second.test.ts names another one, and a database.
const { product }: { product: Product } = await import(resolve(PRODUCT))
const contract = await contractOf(product)
const { operations, paths } = contract
/** How many valid inputs of an operation are tried. */
const INPUTS = DATABASE_URL === undefined ? 200 : 30

/** The most bytes that are sent. */
const MAX_SENT = 2 ** 26

const start = (t: Test) =>
  build(
    t,
    DATABASE_URL === undefined
      ? {}
      : { DATABASE_URL, DATABASE_TIMEOUT: '300', STALL_TIMEOUT: '600' },
    product,
  )
const service = await start(t)
const { call, raw, token } = service
let callers = 0

/** Why an operation can't be asked; undefined if it can. */
function unaskedFor(operation: Operation): string | undefined {
  const { isGuarded, credentials } = operation
  if (!service.isWritten(operation)) return 'its method is not written yet'
  if (isGuarded && !credentials) return 'only the product knows them'
  const missing = missingIn(operation)
  return missing.length > 0 ? `give an example to ${missing.join(' and ')}` : undefined
}

const ordered = inOrder(operations.filter((operation) => unaskedFor(operation) === undefined))
/** Whether these are all: others may need what those make that can't be asked. */
const isWhole = ordered.length === operations.length

/** Nothing can produce the statuses of a method that is not written: at its end, the run does not ask for them. */
function excuse({ id, responses }: Operation): void {
  for (const status of responses.keys()) record(contract, id, status)
}

const newcomer = () => token(`caller${(callers += 1)}`)

/** A caller, after the examples of the operations before this one were sent. */
async function callerOf(operation: Operation): Promise<string> {
  const caller = await newcomer()
  for (const earlier of ordered.slice(0, ordered.indexOf(operation))) {
    if (earlier.method !== 'DELETE')
      await call({ ...toCall(earlier, exampleOf(earlier)), token: caller })
  }
  return caller
}

/** Whether an answer refuses what was sent, whatever is stored. */
const refuses = ({ status }: Answer) => [400, 401, 405, 413, 415].includes(status) || status >= 500

/** Names the rules of a parameter or a body that no test violates. */
function nameSkipped(t: Test, where: string, skipped: readonly Skipped[]): void {
  for (const { rule, reason } of skipped) t.pass(`${where}${rule} is violated`, { skip: reason })
}

t.test('the examples of the contract work, POST and PUT first and DELETE last', async (t) => {
  const caller = await newcomer()
  for (const operation of ordered) {
    const answer = await call({ ...toCall(operation, exampleOf(operation)), token: caller })
    const { status, text } = answer
    const isFine = isWhole ? status >= 200 && status < 400 : !refuses(answer)
    t.ok(isFine, `the example of ${operation.id} is answered ${status} ${text}`)
  }
})

t.test(
  'the examples that have a name are answered with the examples of that name, in order',
  async (t) => {
    const caller = await newcomer()
    for (const { name, operation, input, status, expected } of isWhole
      ? ordered.flatMap(namedExamples)
      : []) {
      const answer = await call({ ...toCall(operation, input), token: caller })
      t.strictSame(
        [answer.status, answer.json],
        [Number(status), expected],
        `${operation.id} ${name}`,
      )
    }
  },
)

for (const operation of operations) {
  const { id, parameters, body } = operation
  const example = exampleOf(operation)
  const ask = (input: Input, caller: string) => call({ ...toCall(operation, input), token: caller })

  if (operation.isGuarded) {
    t.test(`${id} wants credentials, before anything else is looked at`, async (t) => {
      const broken: Input = { ...example, body: body && '{"broken' }
      const faulty = parameters.reduce(
        (input, parameter) => withTexts(input, parameter, ...faultFor(parameter)),
        broken,
      )
      for (const [name, [change, challenge]] of await badCredentials(service, operation)) {
        for (const request of [toCall(operation, example), toCall(operation, faulty)]) {
          const { status, headers } = await call(change(request))
          t.equal(status, 401, `401 for ${name}`)
          t.match(headers['www-authenticate'], /^\w+ realm=/)
          if (challenge !== undefined)
            t.equal(headers['www-authenticate'], challenge, `the challenge for ${name}`)
        }
      }
    })
  } else if (ordered.includes(operation)) {
    t.test(`${id} needs no credentials`, async (t) => {
      t.notOk(refuses(await call(toCall(operation, example))))
    })
  }

  if (!ordered.includes(operation)) {
    t.pass(`${id} with valid credentials and input`, { skip: unaskedFor(operation) ?? true })
    if (!service.isWritten(operation)) excuse(operation)
    continue
  }

  if (operation.isGuarded && operation.isScoped) {
    t.test(`${id} answers 403 to a token without a scope`, async (t) => {
      const token = await issueTokenOf(service.product, service.store, 'unscoped')
      t.equal((await ask(example, token)).status, 403)
    })
  }

  t.test(`${id} accepts all valid input, and answers a newcomer, too`, async (t) => {
    t.notOk(refuses(await ask(example, await newcomer())))
    const caller = await callerOf(operation)
    const cursors = await cursorsOf(operation, ordered, (request) =>
      call({ ...request, token: caller }),
    )
    const skip =
      cursors.length === 0 && parameters.some(isCursor) && 'no list of these tests had a Link'
    t.pass(`${id} with a cursor`, { skip })
    const requests = inputsOf(operation, cursors).map((input) => toCall(operation, input))
    const property = fc.asyncProperty(requests, async (request) => {
      const answer = await call({ ...request, token: caller })
      if (refuses(answer)) throw new Error(`${id} answered ${answer.status} ${answer.text}`)
    })
    await fc.assert(property, { numRuns: INPUTS, includeErrorInReport: true })
  })

  t.test(
    `${id} answers 417 to an expectation, and 503 while the store is away, as declared`,
    async (t) => {
      const { call, store, token } = await start(t)
      const request = { ...toCall(operation, example), token: await token('late') }
      t.equal(
        (await call({ ...request, headers: [...request.headers, 'Expect', 'nonsense'] })).status,
        417,
      )
      await store.close()
      const { status } = await call(request)
      if (operation.responses.has('503')) t.equal(status, 503)
    },
  )

  if (operation.method === 'GET') {
    t.test(`${id} answers HEAD as it does GET, without the body`, async (t) => {
      const request = { ...toCall(operation, example), token: await callerOf(operation) }
      const get = await call(request)
      const { status, headers } = await call({ ...request, method: 'HEAD' })
      const { date: _date, 'x-request-id': _id, ...others } = headers
      t.equal(status, get.status)
      t.hasStrict(get.headers, others)
    })
  }

  for (const parameter of parameters) {
    const { in: place, name, required } = parameter

    t.test(`${id} refuses each violation of the ${place} parameter ${name}`, async (t) => {
      const caller = await callerOf(operation)
      const { sent, skipped } = textsOf(parameter)
      for (const { texts, isRight } of sent) {
        const answer = await ask(withTexts(example, parameter, ...texts), caller)
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
        t.equal(
          (await ask(withTexts(example, parameter, text, text), caller)).status,
          400,
          'it is not repeated',
        )
      }
      const absent = await ask(withTexts(example, parameter), caller)
      if (required) t.equal(absent.status, 400, 'it is required')
      else t.notOk(refuses(absent), 'it is not required')
    })

    if (place === 'header' || place === 'cookie') continue
    t.test(`${id} refuses a bad encoding of the ${place} parameter ${name}`, async (t) => {
      const texts = isOfMembers(parameter) ? ['a', 'BAD'] : ['BAD']
      const { path, ...request } = toCall(operation, withTexts(example, parameter, ...texts))
      for (const text of ['%', '%zz', '%ff', '%C0%80', '%ED%A0%80']) {
        const { status } = await call({
          ...request,
          path: path.replace('BAD', text),
          token: await newcomer(),
        })
        t.equal(status, 400, `${text} is refused`)
      }
    })
  }

  if (body === undefined) continue
  const { headers, ...bodiless } = toCall(operation, { ...example, body: undefined })
  const send = async (caller: string, sent: string | Buffer | undefined, ...added: string[]) =>
    (await call({ ...bodiless, token: caller, headers: [...headers, ...added], body: sent })).status
  const type = ['Content-Type', contentTypeOf(body)]

  t.test(
    `${id} refuses a body of another type, one that is encoded or too long, and none if it needs one`,
    async (t) => {
      const caller = await callerOf(operation)
      const sent = example.body || 'x' // nothing is no body
      const isMissing = (await send(caller, undefined, 'Content-Length', '0')) === 400
      t.equal(isMissing, body.required, 'no body is refused if the operation needs one')
      const isTaken = (type: string) =>
        [type, type.replace(/\/.*/, '/*'), '*/*'].some((range) => body.types.includes(range))
      for (const type of ['', 'text/plain', 'application/xml', 'image/x-other'].filter(
        (type) => !isTaken(type),
      )) {
        t.equal(
          await send(caller, sent, 'Content-Type', type),
          415,
          `the type "${type}" is refused`,
        )
      }
      t.equal(
        await send(caller, sent, ...type, 'Content-Encoding', 'gzip'),
        415,
        'a compressed body is refused',
      )
      if (body.limit > MAX_SENT) t.pass('a longer body', { skip: `up to ${body.limit} bytes` })
      else t.equal(await send(caller, sent.padEnd(body.limit + 1), ...type), 413, 'a longer one')
      const request = withCredentials({ ...bodiless, headers }, operation.credentials ?? [], caller)
      const lines = request.headers.map((text, index) => text + (index % 2 === 0 ? ': ' : '\r\n'))
      const head = `${operation.method} ${request.path} HTTP/1.1\r\nHost: h\r\n${lines.join('')}`
      const [untyped] = await raw(
        1,
        `${head}Content-Length: ${Buffer.byteLength(sent)}\r\n\r\n${sent}`,
      )
      t.equal(untyped?.status, 415, 'a body of no type is refused')
    },
  )

  if (!isJson(body.type)) {
    t.pass(`${id} with other bodies than its example`, { skip: `${body.type} is not JSON` })
    continue
  }

  t.test(`${id} refuses each violation of its body`, async (t) => {
    const caller = await callerOf(operation)
    const { sent, skipped } = textsOfBody(body)
    for (const { label, text, status } of sent) {
      const answer = await ask({ ...example, body: text }, caller)
      if (status === undefined) t.notOk(refuses(answer), `body${label} is accepted`)
      else t.equal(answer.status, status, `body${label} is refused`)
    }
    nameSkipped(t, `${id}, body`, skipped)
  })

  t.test(`${id} refuses a body that is not JSON in UTF-8`, async (t) => {
    const caller = await callerOf(operation)
    const { body: json = '' } = example
    for (const text of [
      ' ',
      json.slice(0, -1),
      `${json},`,
      `\uFEFF${json}`,
      '{"a":1,"a":1}',
      '{"__proto__":1}',
    ]) {
      t.equal(await send(caller, text, ...type), 400, `${brief(text)} is refused`)
    }
    t.equal((await send(caller, '', ...type)) === 400, body.required, 'an empty text is no body')
    t.equal(
      await send(caller, Buffer.from('"\xFF"', 'latin1'), ...type),
      400,
      'invalid UTF-8 is refused',
    )
    t.equal(await send(caller, Buffer.from(json, 'utf16le'), ...type), 400, 'UTF-16 is refused')
    const utf16 = ['Content-Type', `${body.type}; charset=utf-16`]
    t.equal(await send(caller, json, ...utf16), 415, 'UTF-16 is refused by its name')
  })
}

for (const path of paths) {
  t.test(
    `${path} answers OPTIONS with Allow, and each method that is not declared with 405 and Allow`,
    async (t) => {
      const allow = allowOf(contract, path)
      const own = ['CONNECT', ...allow.split(', ').filter((method) => method !== 'OPTIONS')]
      const [operation] = operations.filter((candidate) => candidate.path === path)
      const url = operation === undefined ? path : toCall(operation, exampleOf(operation)).path
      for (const method of METHODS.filter((name) => !own.includes(name))) {
        const { status, headers } = await call({ method, path: url })
        t.equal(status, method === 'OPTIONS' ? 204 : 405, method)
        t.equal(headers['allow'], allow, `Allow for ${method}`)
      }
    },
  )
}
