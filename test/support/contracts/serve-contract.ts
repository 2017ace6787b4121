// Serves small contracts in this process. One method answers all operations of a contract.
import Fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import type { Test } from 'tap'
import { loadCompiler } from '@plant-store/compiler'
import type { Answer } from '../../../packages/engine/src/operation/output/answer.ts'
import { buildGuards } from '../../../packages/engine/src/auth/guard.ts'
import { type Contract, readContract } from '../../../packages/engine/src/contract/contract.ts'
import type { ProductHooks } from '../../../packages/engine/src/contract/product-hooks.ts'
import { addRoutes, type OperationSteps } from '../../../packages/engine/src/operation/routes.ts'
import { checkBody } from '../../../packages/engine/src/operation/input/bodies.ts'
import { requireCaller, type Verdict } from '../../../packages/engine/src/auth/security.ts'
import { answerError, usualError } from '../../../packages/engine/src/http/error-answers.ts'
import { otherSiteCheck } from '../../../packages/engine/src/http/other-sites.ts'
import { OpenRequests } from '../../../packages/engine/src/http/open-requests.ts'
import {
  answerOtherMethods,
  checkFraming,
  checkPath,
  inOrder,
} from '../../../packages/engine/src/http/request-steps.ts'
import { HttpError } from '../../../packages/engine/src/errors.ts'

/** The request that a method gets. */
export type Input = Readonly<
  Record<'caller' | 'path' | 'query' | 'header' | 'cookie' | 'body' | 'type', unknown>
>
/** A method. @param name its own */
export type Run = (request: Input, name: string) => Promise<Answer>

/** A request and the expected answer: its status, its text or a pattern of it, and its media type. */
export type Exchange = readonly [
  request: InjectOptions | string,
  status: number,
  text?: string | RegExp,
  type?: string,
]

/** For a list of exchanges. */
export const ask = (...exchange: Exchange): Exchange => exchange

/** A contract, and the requests to test it with. */
export interface Served {
  /** The body of the operation `run` of `/x`; or a whole contract that begins with `paths`. */
  readonly yaml: string
  /** Other files of the contract. */
  readonly files?: Readonly<Record<string, string>>
  /** What the product adds. */
  readonly product?: ProductHooks
  /** The method for all operations. By default it answers with the parts of the request that are not empty, as JSON. */
  readonly run?: Run
  /** The names of the methods, or those of several services. By default there is one for each operation. */
  readonly methods?: readonly string[] | readonly (readonly string[])[]
  readonly asks?: readonly Exchange[]
}

/** A request with a body. @param payload text or bytes, or a value to write as JSON */
export function post(payload: unknown, type = 'application/json', url = '/x'): InjectOptions {
  const bytes =
    typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload)
  return { method: 'POST', url, headers: { 'content-type': type }, payload: bytes }
}

/** Makes a request of a text. */
type ToRequest = (text: string) => InjectOptions | string

export const json: ToRequest = (text) => post(text)
export const query: ToRequest = (text) => `/x?${text}`
export const path: ToRequest = (text) => text
export const urlencoded: ToRequest = (text) => post(text, 'application/x-www-form-urlencoded')

const placeOf = (request: ToRequest) =>
  (request === query && 'query') || (request === path && 'path') || 'body'
const split = (texts: string) => texts.match(/\S+/g) ?? []

/** @param texts with a space between two; `1e2=>100`: the method gets another text than was sent */
export const accepted = (request: ToRequest, texts: string): Exchange[] =>
  split(texts).map((text) => {
    const [sent = '', got = sent] = text.split('=>')
    return ask(request(sent), 200, `{"${placeOf(request)}":${got}}`)
  })

/** @param texts with a space between two @param message what the answer is like */
export const refused = (request: ToRequest, texts: string, message: RegExp): Exchange[] =>
  split(texts).map((text) => ask(request(text), 400, message))

/** Constructs by their names in the README. What is refused is a contract whose line with the fault ends with `# here`. */
export type Constructs = Readonly<Record<string, Served | string>>

/** The text of a contract. */
export function contract(yaml: string): string {
  const head = 'openapi: 3.1.0\ninfo: { title: Small, version: 1.0.0 }\n'
  if (/^(openapi:|{)/m.test(yaml)) return yaml
  if (/^paths:/m.test(yaml)) return head + yaml
  const method = /^ {6}requestBody:/m.test(yaml) ? 'post' : 'get'
  const responses =
    "      responses: { '200': { description: Done, content: { application/json: {} } } }\n"
  const operation = `  /x:\n    ${method}:\n      operationId: run\n${yaml}\n`
  return `${head}paths:\n${operation}${/^ {6}responses:/m.test(yaml) ? '' : responses}`
}

interface Booted extends Omit<Served, 'asks'> {
  /** The services, instead of those with `methods`. */
  readonly services?: readonly object[]
  readonly isDraft?: boolean
  readonly onError?: (error: Error) => void
  /** Changes the server before it is ready. */
  readonly prepare?: (app: FastifyInstance, contract: Contract) => void
}

/** Writes a contract to a file, and starts a service for it. */
export async function boot(
  t: Test,
  { yaml, files = {}, product, run = echo, methods, services, isDraft, onError, prepare }: Booted,
): Promise<FastifyInstance> {
  const folder = t.testdir({ 'openapi.yaml': contract(yaml), ...files })
  const app = Fastify({ bodyLimit: 1 })
  t.teardown(() => app.close())
  app.decorateRequest('caller', '')
  app.decorateRequest('repeatedHeaders', undefined)
  app.decorate('writeError', usualError)
  app.setErrorHandler(answerError)
  app.removeAllContentTypeParsers()
  app.addHook('onRequest', inOrder([checkFraming, checkPath]))
  const addOtherMethods = answerOtherMethods(app)
  app.addHook('onError', async (_request, _reply, error) => onError?.(error))
  const read = await readContract(`${folder}/openapi.yaml`, {
    product,
    loadCompiler,
  })
  const makeGuard = await buildGuards(app, {
    realm: 'x',
    guards: read.product.guards,
    timeout: 5,
    checkAccessToken: checkToken,
  })
  const isFromOtherSite = otherSiteCheck([], '.')
  const stepsOf: OperationSteps = ({ security, body }) => [
    requireCaller(security, makeGuard, isFromOtherSite),
    ...(body ? [checkBody(body)] : []),
  ]
  const names = methods ?? read.operations.map(({ id }) => id)
  const grouped = names.some(Array.isArray) ? names : [names]
  const madeServices = grouped.map((names) => serviceOf([names].flat(2), run))
  await addRoutes(app, read, { services: services ?? madeServices, stepsOf, isDraft })
  addOtherMethods()
  prepare?.(app, read)
  if (!app.hasDecorator('openRequests')) app.decorate('openRequests', new OpenRequests(app.log))
  await app.ready()
  return app
}

function Small(): void {
  // Only its name is used.
}

/** Makes a service object. All its methods do the same. */
function serviceOf(names: readonly string[], run: Run): object {
  const methods = names.map((name) => {
    const value = (request: Input) => run(request, name)
    return [name, { value }] as const
  })
  return Object.create(Object.defineProperties({ constructor: Small }, Object.fromEntries(methods)))
}

/** Answers with the parts of a request that are not empty. */
export const echo: Run = async (request) => {
  const isEmpty = (part: unknown) =>
    part === '' || (typeof part === 'object' && Object.keys(part ?? {}).length === 0)
  const parts = Object.entries(request).filter(
    ([name, part]) => part !== undefined && (name === 'body' || !isEmpty(part)),
  )
  return { status: 200, body: Object.fromEntries(parts) }
}

/**
 * Accepts tokens such as `alice:read,write`: the caller alice with the scopes read and write. The check of `away:` fails.
 * A token of bob is checked later, any other at once.
 */
function checkToken(token: string): Verdict | Promise<Verdict> {
  const [, caller, scopes = ''] = /^(\w+):(.*)$/.exec(token) ?? []
  if (caller === 'away') return Promise.reject(new HttpError(503, 'away'))
  const verdict: Verdict =
    caller === undefined ? { refused: 'malformed' } : { caller, scopes: scopes.split(',') }
  return caller === 'bob' ? Promise.resolve(verdict) : verdict
}
