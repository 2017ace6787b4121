import type { FastifyInstance, RouteOptions } from 'fastify'
import openapiGlue from 'fastify-openapi-glue'
import { type Answer, answer } from './answer.ts'
import type { Guard, Guards } from './auth.ts'
import { askForBody, requireBody, requireJson } from './body.ts'
import { StartupError } from './config.ts'
import type { Contract, Operation, Service } from './contract.ts'

/** A service that has a method for each operation, and none that has no operation. */
export type Exactly<Methods> = Service & { readonly [_ in Exclude<keyof Methods, keyof Service>]: never }

/** What the methods of a service have in common: each gets what the contract has validated for it. */
type Method = (request: object) => Promise<Answer>

type Route = Pick<RouteOptions, 'onRequest' | 'preParsing' | 'preValidation' | 'handler'>

/**
 * Adds a route for each operation of the contract: guarded, validated and serialized as it says, and answered by the
 * service's method of the same name.
 * @throws {StartupError} naming each operation without a method, method without an operation, and security scheme
 *   without a guard
 */
export async function addRoutes<Methods extends Exactly<Methods>>(
  app: FastifyInstance,
  { document, operations }: Contract,
  service: Methods,
  guards: Guards,
): Promise<void> {
  const methods = methodsOf(service)
  const guardOf = new Map<string, Guard>(Object.entries(guards))
  const faults = [
    ...missing(operations.keys(), methods).map((id) => `the operation ${id} has no method in the service`),
    ...missing(methods.keys(), operations).map(
      (name) => `the method ${name} of the service has no operation`,
    ),
    ...[...operations].flatMap(([id, { security }]) =>
      missing(security, guardOf).map((scheme) => `nothing guards the operation ${id} with ${scheme}`),
    ),
  ]
  if (faults.length > 0) throw new StartupError(faults.join('; '))

  await app.register(openapiGlue, {
    specification: document,
    operationResolver: (id, method, path) => ({
      ...routeOf(named(operations, id), named(methods, id), guardOf),
      method,
      url: path.replaceAll(/{(\w+)}/g, ':$1'),
    }),
  })
}

function routeOf(
  { security, body: has }: Operation,
  method: Method,
  guardOf: ReadonlyMap<string, Guard>,
): Route {
  const guards = security.map((scheme) => named(guardOf, scheme))
  return {
    onRequest: has === 'none' ? guards : [...guards, requireJson],
    preParsing: has === 'none' ? [] : askForBody,
    preValidation: has === 'required' ? requireBody : [],
    handler: async (request, reply) => {
      const { caller, params, query, headers, body } = request
      return answer(request, reply, await method({ caller, path: params, query, header: headers, body }))
    },
  }
}

/** The service's methods by name. A private one begins with `#`, so that all others are operations. */
function methodsOf(service: object): ReadonlyMap<string, Method> {
  const { constructor: _constructor, ...descriptors } = Object.getOwnPropertyDescriptors(
    Object.getPrototypeOf(service),
  )
  return new Map(
    Object.entries(descriptors).map(([name, { value }]) => [name, (value as Method).bind(service)]),
  )
}

function missing(names: Iterable<string>, present: ReadonlyMap<string, unknown>): string[] {
  return [...names].filter((name) => !present.has(name))
}

function named<Value>(values: ReadonlyMap<string, Value>, name: string): Value {
  const value = values.get(name)
  if (value === undefined) throw new StartupError(`${name} is unknown`)
  return value
}
