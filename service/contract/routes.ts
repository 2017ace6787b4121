import type { FastifyInstance, RouteOptions, RouteShorthandOptions } from 'fastify'
import openapiGlue from 'fastify-openapi-glue'
import { type Answer, answerSender } from './answer.ts'
import { bodyReader, readBodies } from './bodies.ts'
import type { Operation } from './compiled.ts'
import type { Contract } from './contract.ts'
import { errorWriter } from './errors.ts'
import { parametersReader, routerName } from './parameters.ts'
import type { Service } from './types.ts'
import { Validators } from './validation.ts'
import './validated.ts'
import { StartupError, HttpError } from '../errors.ts'

/** A service that has a method for each operation, and none that has no operation. */
export type Exactly<Methods> = Service & { readonly [_ in Exclude<keyof Methods, keyof Service>]: never }

/** The hooks of an operation, in their order. */
export type OperationHooks = (operation: Operation) => Pick<RouteShorthandOptions, 'onRequest'>

/** What the methods of a service have in common: each gets what the contract has validated for it. */
type Method = (request: object) => Promise<Answer>

/**
 * Adds a route for each operation of the contract: guarded, validated and answered as it says, by the service's method of
 * the same name.
 * @param draft whether the methods need not fit yet: an operation without one is then answered 501
 * @throws {StartupError} naming each operation without a method, and each method without an operation
 */
export async function addRoutes<Methods extends Exactly<Methods>>(
  app: FastifyInstance,
  contract: Contract,
  service: Methods,
  hooks: OperationHooks,
  draft = false,
): Promise<void> {
  const { operations, schemas } = contract
  const methods = methodsOf(service)
  const ids = operations.map(({ id }) => id)
  const misfits = [
    ...[...methods.keys()]
      .filter((id) => !ids.includes(id))
      .map((id) => `the method ${id} of the service has no operation`),
    ...ids.filter((id) => !methods.has(id)).map((id) => `the operation ${id} has no method in the service`),
  ]
  if (draft) for (const each of misfits) app.log.warn(each)
  else if (misfits.length > 0) throw new StartupError(misfits.join('; '))

  await readBodies(app, operations)
  const requests = new Validators(schemas, true)
  let responses: Validators | undefined
  const routeOf = (operation: Operation): RouteOptions => {
    const { id, method, path, parameters, body } = operation
    const run = methods.get(id) ?? unwritten(id, service)
    const [readPath, readQuery, readHeaders] = (['path', 'query', 'header'] as const).map((place) =>
      parametersReader(parameters, place, requests),
    )
    const readBody = body === null ? undefined : bodyReader(body, requests)
    const send = answerSender(operation, contract, () => (responses ??= new Validators(schemas, false)))
    return {
      method,
      url: path.replaceAll(':', '::').replaceAll(/{([^}]+)}/g, (_, name: string) => `:${routerName(name)}`),
      ...(body !== null && { bodyLimit: Math.max(...Object.values(body.content).map(({ limit }) => limit)) }),
      config: { writeError: errorWriter(operation) },
      ...hooks(operation),
      handler: async (request, reply) => {
        const { caller } = request
        const [path, query, header] = [readPath?.(request), readQuery?.(request), readHeaders?.(request)]
        return send(request, reply, await run({ caller, path, query, header, body: await readBody?.(request) }))
      },
    }
  }
  const routes = new Map(operations.map((operation) => [operation.id, routeOf(operation)]))
  await app.register(openapiGlue, {
    specification: routingDocument(contract),
    operationResolver: (id) => routes.get(id) ?? never(id),
  })
}

/** The part of the document that says which operation answers which method and path. The compiled contract has the rest. */
function routingDocument({ title, operations }: Contract): object {
  const responses = { default: { description: 'see the contract' } }
  const paths: Record<string, Record<string, object>> = {}
  for (const { id, method, path } of operations) {
    paths[path] = { ...paths[path], [method.toLowerCase()]: { operationId: id, responses } }
  }
  return { openapi: '3.1.0', info: { title, version: '' }, paths }
}

function never(id: string): never {
  throw new StartupError(`the operation ${id} has no route`)
}

/** What answers an operation until its method is written. */
function unwritten(id: string, { constructor }: object): Method {
  return () =>
    Promise.reject(new HttpError(501, `The operation ${id} needs a method ${id} in the class ${constructor.name}`))
}

/** The service's methods by name. A private one begins with `#`, so that all others are operations. */
function methodsOf(service: object): ReadonlyMap<string, Method> {
  const { constructor: _constructor, ...descriptors } = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(service))
  return new Map(Object.entries(descriptors).map(([name, { value }]) => [name, (value as Method).bind(service)]))
}
