// Serves small contracts in this process. One method answers all operations of a contract.
import Fastify, { type FastifyInstance, type FastifyRequest, type InjectOptions } from 'fastify'
import type { Test } from 'tap'
import type { Answer } from '../../service/engine/contract/answer.ts'
import { type Contract, readContract } from '../../service/engine/contract/contract.ts'
import { addRoutes, type OperationHooks } from '../../service/engine/contract/routes.ts'
import { checkBody } from '../../service/engine/contract/bodies.ts'
import { type MakeGuard, requireCaller, type Verdict } from '../../service/engine/contract/security.ts'
import type { Formats } from '../../service/engine/contract/validation.ts'
import { answerError } from '../../service/engine/http/error-answers.ts'
import { answerOtherMethods, checkPath } from '../../service/engine/http/paths.ts'
import { HttpError } from '../../service/engine/errors.ts'

/** The request that a method gets. */
export type Input = Readonly<Record<'caller' | 'path' | 'query' | 'header' | 'body' | 'type', unknown>>
export type Run = (request: Input) => Promise<Answer>

/** A request and the expected answer: its status, and its text or a pattern of it. */
export type Exchange = readonly [request: InjectOptions | string, status: number, text?: string | RegExp]

/** A valid contract, and the requests to test it with. */
export interface Served {
  /** The body of the operation `run` of `/x`; or a whole contract that begins with `paths`. */
  readonly yaml: string
  /** Other files of the contract. */
  readonly files?: Readonly<Record<string, string>>
  /** The method for all operations. By default it answers with the parts of the request that are not empty, as JSON. */
  readonly run?: Run
  /** The names of the methods, or those of several services. By default there is one for each operation. */
  readonly methods?: readonly string[] | readonly (readonly string[])[]
  /** The formats of the product. */
  readonly formats?: Formats
  /** What its author is told of it. */
  readonly note?: string
  readonly asks: readonly Exchange[]
}

/** A contract that is refused. The line with the fault ends with `# here`. */
export interface Refused extends Pick<Served, 'yaml' | 'files'> {
  readonly says: string
}

/** The text of a contract. */
export function contract(yaml: string): string {
  const head = 'openapi: 3.1.0\ninfo: { title: Small, version: 1.0.0 }\n'
  if (/^openapi:/m.test(yaml)) return yaml
  if (/^paths:/m.test(yaml)) return head + yaml
  const method = /^ {6}requestBody:/m.test(yaml) ? 'post' : 'get'
  const responses = "      responses: { '200': { description: Done, content: { application/json: {} } } }\n"
  const operation = `  /x:\n    ${method}:\n      operationId: run\n${yaml}\n`
  return `${head}paths:\n${operation}${/^ {6}responses:/m.test(yaml) ? '' : responses}`
}

interface Booted extends Omit<Served, 'asks'> {
  readonly isDraft?: boolean
  readonly onError?: (error: Error) => void
  /** Changes the server before it is ready. */
  readonly prepare?: (app: FastifyInstance, contract: Contract) => void
}

/** Writes a contract to a file, and starts a service for it. */
export async function boot(
  t: Test,
  { yaml, files = {}, run = echo, methods, formats, isDraft, onError, prepare }: Booted,
): Promise<FastifyInstance> {
  const folder = t.testdir({ 'openapi.yaml': contract(yaml), ...files })
  const app = Fastify({ bodyLimit: 1 })
  t.teardown(() => app.close())
  app.decorateRequest('caller', '')
  app.setErrorHandler(answerError)
  app.removeAllContentTypeParsers()
  app.addHook('onRequest', checkPath)
  const addOtherMethods = answerOtherMethods(app)
  app.addHook('onError', async (_request, _reply, error) => onError?.(error))
  const read = await readContract(`${folder}/openapi.yaml`)
  const hooks: OperationHooks = ({ security, body }) => ({
    onRequest: [requireCaller(security, makeGuard), ...(body ? [checkBody(body)] : [])],
  })
  const names = methods ?? read.operations.map(({ id }) => id)
  const services = names.some(Array.isArray) ? names : [names]
  await addRoutes(
    app,
    read,
    services.map((each) => serviceOf([each].flat(2), run)),
    hooks,
    isDraft,
    formats,
  )
  addOtherMethods()
  prepare?.(app, read)
  await app.ready()
  return app
}

function Small(): void {
  // Only its name is used.
}

/** Makes a service object. All its methods are the same function. */
function serviceOf(names: readonly string[], run: Run): object {
  const methods = names.map((name) => [name, { value: run }] as const)
  return Object.create(Object.defineProperties({ constructor: Small }, Object.fromEntries(methods)))
}

/** Answers with the parts of a request that are not empty. */
const echo: Run = async (request) => {
  const isEmpty = (part: unknown) => part === '' || (typeof part === 'object' && Object.keys(part ?? {}).length === 0)
  const parts = Object.entries(request).filter(
    ([name, part]) => part !== undefined && (name === 'body' || !isEmpty(part)),
  )
  return { status: 200, body: Object.fromEntries(parts) }
}

/**
 * Accepts credentials such as `alice:read,write`: the caller alice with the scopes read and write. The check of `away:` fails.
 * A bearer token is checked at once, an apiKey later.
 */
const makeGuard: MakeGuard = (scheme) => {
  const header = scheme.type === 'bearer' ? 'authorization' : scheme.header
  const check = ({ headers }: FastifyRequest): Verdict => {
    const [, caller, scopes = ''] = /^(?:Bearer )?(\w+):(.*)$/.exec(String(headers[header] ?? '')) ?? []
    if (caller === 'away') throw new HttpError(503, 'away')
    if (caller !== undefined) return { caller, scopes: scopes.split(',') }
    return { refused: headers[header] === undefined ? 'missing' : 'malformed' }
  }
  return scheme.type === 'bearer'
    ? { challenge: 'Bearer realm="x"', check }
    : { challenge: 'ApiKey realm="x"', check: async (request) => check(request) }
}
