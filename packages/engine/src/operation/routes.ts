// Makes a route of each operation of the contract, and finds its method among the services of the
// product.
import type {
  FastifyInstance,
  onSendHookHandler,
  preParsingHookHandler,
  RouteOptions,
} from 'fastify'
import openapiGlue from 'fastify-openapi-glue'
import { MethodRequest } from './input/method-request.ts'
import { addTemplates, routeOf } from './input/templates.ts'
import { FILES } from './input/strings/sent.ts'
import { type Authorizer, leaveBody, type Method, Stages, type Validators } from './operation.ts'
import { notWritten } from './output/not-written.ts'
import { answerExample } from './output/prefer.ts'
import './skip-document-check.ts'
import type { Operation } from '../contract/compiled.ts'
import type { Contract } from '../contract/contract.ts'
import { describesErrors } from '../contract/common-errors.ts'
import { conflictWriter } from '../contract/conflicts.ts'
import { errorWriter } from '../contract/error-forms.ts'
import type { ProductHooks } from '../contract/product-hooks.ts'
import { Validator } from '@plant-store/json-schema'
import type { WriteError } from '../http/error-answers.ts'
import { orderOf } from '../http/other-methods.ts'
import { HttpError, reasonOf, StartupError } from '../errors.ts'

/** Makes the first stage of an operation's requests, to find their caller. */
export type AuthorizerOf = (operation: Operation) => Authorizer

/** The parts of routes beside the contract. */
interface RouteParts {
  readonly services: readonly object[]
  readonly authorizerOf: AuthorizerOf
  /** Whether methods may be missing: their operations are answered 501. */
  readonly isDraft?: boolean | undefined
}

/**
 * Adds a route for each operation of the contract, with the stages of its requests. Its method has
 * the same name.
 * @throws {StartupError} naming each operation without a method, and each method without an
 * operation
 */
export async function addRoutes(
  app: FastifyInstance,
  contract: Contract,
  { services, authorizerOf, isDraft = false }: RouteParts,
): Promise<void> {
  const { operations, product, schemas } = contract
  const methods = findMethods(operations, services)
  const misfits = misfitsOf(contract, methods, services)
  if (!isDraft && misfits.length > 0) throw new StartupError(misfits.join('; '))
  for (const misfit of misfits) app.log.warn(misfit)

  app.addContentTypeParser(/^/, leaveBody)
  addTemplates(app)
  app.addHook('onRoute', omitLengths)
  const validators: Validators = {
    bodies: new Validator(schemas, 'incoming', product.formats),
    texts: new Validator(schemas, 'incoming', product.formats, FILES),
    responses: new Validator(schemas, 'outgoing', product.formats),
  }
  const heads = operations.filter(({ method }) => method === 'HEAD')
  const shapesOfHeads = new Set(heads.map(({ path }) => withoutNames(path)))
  const routes = new Map<string, RouteOptions>()
  for (const operation of operations) {
    const { id, path, body } = operation
    const method = methodFor(contract, id, { run: methods.get(id), services, isDraft })
    const stages = new Stages(operation, {
      authorizer: authorizerOf(operation),
      method,
      validators,
    })
    routes.set(id, {
      method: operation.method,
      exposeHeadRoute: !shapesOfHeads.has(withoutNames(path)),
      ...routeOf(path),
      config: {
        template: path,
        route: path.replaceAll(/{([^}]+)}/g, ':$1'),
        writeError: writerFor(operation, app, product),
        writeConflict: conflictWriter({ operation, schemas, product }),
        operationId: id,
      },
      onRequest: stages.onRequest,
      ...(body || operation.method === 'GET' ? {} : { preParsing: ignoreType }),
      handler: stages.handler,
    })
  }
  await app.register(openapiGlue, {
    specification: routingDocument(contract),
    operationResolver: (id) => routes.get(id) as RouteOptions, // the document has only these operations
  })
}

/** The writer of the errors of an operation. One without described errors has the errors outside of operations. */
function writerFor(operation: Operation, app: FastifyInstance, product: ProductHooks): WriteError {
  const { errors } = operation
  const isCommon = Object.keys(errors).length === 0 && !describesErrors(operation)
  return isCommon ? app.writeError : errorWriter(errors, product)
}

interface MethodParts {
  readonly run: Method | undefined
  readonly services: readonly object[]
  readonly isDraft: boolean
}

/** The method of an operation. In a draft it may be missing. */
function methodFor(
  contract: Contract,
  id: string,
  { run, services, isDraft }: MethodParts,
): Method {
  const isMissing = run === undefined || (isDraft && run === notWritten)
  if (isMissing) return missingMethod(contract, id, services)
  return run
}

/** The differences between the services and the contract. */
function misfitsOf(
  { operations, refused = [] }: Contract,
  methods: ReadonlyMap<string, Method>,
  services: readonly object[],
): readonly string[] {
  const ids = operations.map(({ id }) => id)
  const expected = new Set([...ids, ...refused.map(({ id }) => id)])
  const extra = listMethods(services).filter((name) => !expected.has(name))
  const missing = ids.filter((id) => !methods.has(id))
  return [
    ...extra.map((name) => `the method ${name} of the service has no operation (${PRIVATE})`),
    ...missing.map((id) => `the operation ${id} has no method in the service`),
  ]
}

/** Answers the operations with a fault 501, with the fault. A path refused by the router is 404. */
export function addFaultyOperations(app: FastifyInstance, { refused = [] }: Contract): void {
  for (const { method, path, fault } of refused) {
    const onRequest = () => Promise.reject(new HttpError(501, fault))
    try {
      app.route({
        method,
        ...routeOf(path),
        config: { template: path },
        onRequest,
        handler: onRequest,
      })
    } catch (error) {
      app.log.debug({ method, path, reason: reasonOf(error) }, 'no route')
    }
  }
}

function withoutNames(path: string): string {
  return path.replaceAll(/{[^}]+}/g, '{}')
}

/**
 * The document for fastify-openapi-glue, with the method and the path of each operation. The
 * compiled contract has the rest.
 */
function routingDocument({ title, operations }: Contract): object {
  const responses = { default: { description: 'see the contract' } }
  const paths: Record<string, Record<string, object>> = {}
  const ordered = operations.toSorted((a, b) => (orderOf(a.path) < orderOf(b.path) ? -1 : 1))
  for (const { id, method, path } of ordered) {
    paths[path] = { ...paths[path], [method.toLowerCase()]: { operationId: id, responses } }
  }
  return { openapi: '3.1.0', info: { title, version: '' }, paths }
}

/**
 * Lets HEAD answer 204 and 304 without a length, as GET does (RFC 9110, section 8.6). Fastify ends each answer to HEAD with a
 * hook, which sets `Content-Length: 0` where there is no content.
 */
function omitLengths(route: RouteOptions): void {
  if (route.method !== 'HEAD') return
  const hooks = [route.onSend ?? []].flat()
  route.onSend = [...hooks, omitLength]
}

const omitLength: onSendHookHandler = (_request, reply, payload, done) => {
  if (reply.statusCode === 204 || reply.statusCode === 304) reply.removeHeader('content-length')
  done(null, payload)
}

/**
 * Many clients send a Content-Type where the operation has no body. Fastify would refuse a
 * malformed one.
 */
const ignoreType: preParsingHookHandler = ({ raw }, _reply, payload, done) => {
  delete raw.headers['content-type']
  done(null, payload)
}

/** Takes the place of a missing method: it answers an example of the contract, or 501. */
function missingMethod({ examples }: Contract, id: string, services: readonly object[]): Method {
  const classes = services.map(({ constructor }) => constructor.name).join(' or ')
  const missing = `The operation ${id} needs a method ${id} in the class ${classes}`
  const own = examples?.operations.get(id) ?? { answers: [], lacking: [], method: '' }
  const isUnasked = examples?.isUnasked === true
  return (input) =>
    Promise.try(answerExample, missing, own, isUnasked, MethodRequest.preferOf(input))
}

const PRIVATE = 'a private one begins with #'

/**
 * The methods of operations, by their ids. They may be inherited, or be properties.
 * @throws {StartupError} if two services have a method of the same name
 */
function findMethods(
  operations: readonly Operation[],
  services: readonly object[],
): ReadonlyMap<string, Method> {
  const methods = new Map<string, Method>()
  for (const { id } of operations) {
    for (const service of services) {
      const method = methodOf(service, id)
      if (method === undefined) continue
      if (methods.has(id)) throw new StartupError(`two services have a method ${id}`)
      methods.set(id, method)
    }
  }
  return methods
}

/**
 * A method of a service, bound to it; undefined if there is none of this name. The methods of every
 * object do not count.
 */
export function methodOf(service: object, name: string): Method | undefined {
  const owner = ownerOf(service, name)
  if (owner === Object.prototype || owner === Function.prototype) return undefined
  // In a class, this name stands for the class itself.
  if (name === 'constructor' && owner !== service) return undefined
  const value: unknown = Reflect.get(service, name)
  if (value === notWritten) return notWritten
  return typeof value === 'function' ? (value.bind(service) as Method) : undefined
}

/** The service, or the prototype with its property; undefined if there is no such object, as with some proxies. */
function ownerOf(service: object, name: string): object | undefined {
  let owner: object | null = service
  while (owner !== null && !Object.hasOwn(owner, name))
    owner = Object.getPrototypeOf(owner) as object | null
  return owner ?? undefined
}

/**
 * The names of the methods in the classes of services. Private ones begin with `#`, and are not
 * listed.
 */
function listMethods(services: readonly object[]): readonly string[] {
  const names = services.flatMap((service) => {
    const prototype: unknown = Object.getPrototypeOf(service)
    if (prototype === null || prototype === Object.prototype) return [] // the service has no class
    const members = Object.entries(Object.getOwnPropertyDescriptors(prototype))
    return members.filter(([, { value }]) => typeof value === 'function').map(([name]) => name)
  })
  return [...new Set(names)].filter((name) => name !== 'constructor')
}
