import type {
  FastifyInstance,
  preParsingHookHandler,
  RouteOptions,
  RouteShorthandOptions,
} from 'fastify'
import openapiGlue from 'fastify-openapi-glue'
import { type Answer, answerSender } from './answer.ts'
import { addBodyParser, bodyReader, readRest } from './bodies.ts'
import type { Operation } from './compiled.ts'
import type { Contract } from './contract.ts'
import { errorWriter } from './error-forms.ts'
import { parametersReader } from './parameters.ts'
import { addTemplates, routeOf, valuesOfPath } from './templates.ts'
import { Validators } from './validation.ts'
import './skip-document-check.ts'
import { HttpError, reasonOf, StartupError } from '../errors.ts'

/** Makes the hooks of an operation, in order. */
export type OperationHooks = (operation: Operation) => Pick<RouteShorthandOptions, 'onRequest'>

/** A method of the service. It gets the validated parts of the request. */
type Method = (request: object) => Promise<Answer>

/**
 * Adds a route for each operation of the contract. The route runs the hooks, validates the request, calls the method of
 * the same name, and sends its answer.
 * @param services the objects that have these methods
 * @param draft whether methods may be missing: their operations are answered 501
 * @throws {StartupError} naming each operation without a method, and each method without an operation
 */
export async function addRoutes(
  app: FastifyInstance,
  contract: Contract,
  services: readonly object[],
  hooks: OperationHooks,
  draft = false,
): Promise<void> {
  const { operations, product, schemas } = contract
  const ids = operations.map(({ id }) => id)
  const methods = findMethods(ids, services)
  const known = new Set([...ids, ...(contract.refused ?? []).map(({ id }) => id)])
  const extra = listMethods(services).filter((name) => !known.has(name))
  const missing = ids.filter((id) => !methods.has(id))
  const misfits = [
    ...extra.map((name) => `the method ${name} of the service has no operation (${PRIVATE})`),
    ...missing.map((id) => `the operation ${id} has no method in the service`),
  ]
  if (draft) for (const each of misfits) app.log.warn(each)
  else if (misfits.length > 0) throw new StartupError(misfits.join('; '))

  addBodyParser(app)
  addTemplates(app)
  const requests = new Validators(schemas, 'request', product.formats)
  const responses = new Validators(schemas, 'response', product.formats)
  const makeRoute = (operation: Operation): RouteOptions => {
    const { id, method, path, parameters, body } = operation
    const run = methods.get(id) ?? answer501(id, services)
    const readPath = parametersReader(parameters, 'path', requests, valuesOfPath(path))
    const readQuery = parametersReader(parameters, 'query', requests)
    const readHeaders = parametersReader(parameters, 'header', requests)
    const readBody = body && bodyReader(body, requests)
    const isRanged = Object.keys(body?.content ?? {}).some((type) => type.endsWith('*'))
    const send = answerSender(operation, responses)
    return {
      method,
      ...routeOf(path),
      config: {
        route: path.replaceAll(/{([^}]+)}/g, ':$1'),
        writeError: errorWriter(operation.errors, product),
      },
      ...hooks(operation),
      ...(body ? { onResponse: readRest } : method !== 'GET' && { preParsing: ignoreType }),
      handler: async (request, reply) => {
        const { caller } = request
        const parameters = {
          path: readPath?.(request),
          query: readQuery?.(request),
          header: readHeaders?.(request),
        }
        const type = isRanged ? request.mediaType : undefined
        return send(
          request,
          reply,
          await run({ caller, ...parameters, body: await readBody?.(request, reply), type }),
        )
      },
    }
  }
  const routes = new Map(operations.map((operation) => [operation.id, makeRoute(operation)]))
  await app.register(openapiGlue, {
    specification: routingDocument(contract),
    operationResolver: (id) => routes.get(id) as RouteOptions, // the document has these operations only
  })
}

/** Answers the operations with a fault 501, with the fault. A path that the router can't have is 404. */
export function addFaultyOperations(app: FastifyInstance, { refused = [] }: Contract): void {
  for (const { method, path, fault } of refused) {
    const onRequest = () => Promise.reject(new HttpError(501, fault))
    try {
      app.route({ method, ...routeOf(path), onRequest, handler: onRequest })
    } catch (error) {
      app.log.debug({ method, path, reason: reasonOf(error) }, 'no route')
    }
  }
}

/** The document for fastify-openapi-glue: which operation has which method and path. The compiled contract has the rest. */
function routingDocument({ title, operations }: Contract): object {
  const responses = { default: { description: 'see the contract' } }
  const paths: Record<string, Record<string, object>> = {}
  const ordered = operations.toSorted((a, b) => (endsFirst(a.path) < endsFirst(b.path) ? -1 : 1))
  for (const { id, method, path } of ordered) {
    paths[path] = { ...paths[path], [method.toLowerCase()]: { operationId: id, responses } }
  }
  return { openapi: '3.1.0', info: { title, version: '' }, paths }
}

/** Sorts the longer end of a segment first: the router tries `{a}.tar.gz` before `{a}.gz` only if it was added before. */
function endsFirst(path: string): string {
  const segments = path.replaceAll(/{[^}]+}/g, '\x7f').split('/')
  return segments.map((each) => Array.from(each).reverse().join('')).join('/')
}

/** Many clients send a Content-Type where the operation has no body. Fastify would refuse a malformed one. */
const ignoreType: preParsingHookHandler = ({ raw }, _reply, payload, done) => {
  delete raw.headers['content-type']
  done(null, payload)
}

/** Takes the place of a method that is not written yet. */
function answer501(id: string, services: readonly object[]): Method {
  const classes = services.map(({ constructor }) => constructor.name).join(' or ')
  return () =>
    Promise.reject(
      new HttpError(501, `The operation ${id} needs a method ${id} in the class ${classes}`),
    )
}

const PRIVATE = 'a private one begins with #'

/** The methods of operations, by their ids. They may be inherited, or be properties. */
function findMethods(
  ids: readonly string[],
  services: readonly object[],
): ReadonlyMap<string, Method> {
  const methods = new Map<string, Method>()
  for (const id of ids) {
    const [method, second] = services.flatMap((service) => methodOf(service, id) ?? [])
    if (second) throw new StartupError(`two services have a method ${id}`)
    if (method) methods.set(id, method)
  }
  return methods
}

/** A method of a service; undefined if it has none, but for those that all objects have. */
function methodOf(service: object, name: string): Method | undefined {
  const value: unknown = Reflect.get(service, name)
  if (typeof value !== 'function' || value === Reflect.get(Object.prototype, name)) return undefined
  return value.bind(service) as Method
}

/** The names of the methods in the classes of services. Private ones begin with `#`, and are not listed. */
function listMethods(services: readonly object[]): readonly string[] {
  const names = services.flatMap((service) => {
    const prototype: unknown = Object.getPrototypeOf(service)
    if (prototype === null || prototype === Object.prototype) return [] // the service has no class
    const members = Object.entries(Object.getOwnPropertyDescriptors(prototype))
    return members.filter(([, { value }]) => typeof value === 'function').map(([name]) => name)
  })
  return [...new Set(names)].filter((name) => name !== 'constructor')
}
