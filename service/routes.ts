import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import openapiGlue from 'fastify-openapi-glue'
import { type Answer, answer } from './answer.ts'
import type { Guard, Guards } from './auth.ts'
import { askForBody, requireBody, requireJson } from './body.ts'
import { StartupError } from './config.ts'
import type { Contract, Operation, Service } from './contract.ts'

/** A service that has a method for each operation, and none that has no operation. */
export type Exactly<Implementation> = Service & {
  readonly [_ in Exclude<keyof Implementation, keyof Service>]: never
}

/** What the methods of a service have in common: each gets what the contract has validated for it. */
type Method = (request: object) => Promise<Answer>

/**
 * Adds a route for each operation of the contract: guarded, validated and serialized as it says, and answered by the
 * service's method of the same name.
 * @throws {StartupError} naming each operation without a method, method without an operation, and security scheme
 *   without a guard
 */
export async function addRoutes<Implementation extends Exactly<Implementation>>(
  app: FastifyInstance,
  { document, operations }: Contract,
  service: Implementation,
  guards: Guards,
): Promise<void> {
  const methods = methodsOf(service)
  const byScheme = new Map<string, Guard>(Object.entries(guards))
  const faults = [
    ...missing(operations.keys(), methods).map((id) => `the operation ${id} has no method in the service`),
    ...missing(methods.keys(), operations).map(
      (name) => `the method ${name} of the service has no operation`,
    ),
    ...[...operations].flatMap(([id, { security }]) =>
      missing(security, byScheme).map(
        (scheme) => `the operation ${id} requires ${scheme}, which nothing guards`,
      ),
    ),
  ]
  if (faults.length > 0) throw new StartupError(faults.join('; '))

  await app.register(openapiGlue, {
    specification: document,
    operationResolver: (id, method, path) => ({
      ...routeOf(get(operations, id), get(methods, id), byScheme),
      method,
      url: path.replaceAll(/{(\w+)}/g, ':$1'),
    }),
  })
}

function routeOf({ security, body }: Operation, method: Method, guards: ReadonlyMap<string, Guard>) {
  const route: Pick<RouteOptions, 'onRequest' | 'preParsing' | 'preValidation' | 'handler'> = {
    onRequest: security.map((scheme) => get(guards, scheme)),
    handler: async (request, reply) => answer(request, reply, await method(partsOf(request))),
  }
  if (body === 'none') return route
  return {
    ...route,
    onRequest: [...security.map((scheme) => get(guards, scheme)), requireJson],
    preParsing: askForBody,
    preValidation: body === 'required' ? requireBody : [],
  }
}

function partsOf({ caller, params, query, headers, body }: FastifyRequest) {
  return { caller, path: params, query, header: headers, body }
}

/** By name, bound: private methods have a `#`, so that all others are operations. */
function methodsOf(service: object): ReadonlyMap<string, Method> {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(service)).filter(
    (name) => name !== 'constructor',
  )
  return new Map(names.map((name) => [name, (request) => Reflect.get(service, name).call(service, request)]))
}

function missing(names: Iterable<string>, present: ReadonlyMap<string, unknown>): string[] {
  return [...names].filter((name) => !present.has(name))
}

function get<Value>(map: ReadonlyMap<string, Value>, name: string): Value {
  const value = map.get(name)
  if (value === undefined) throw new StartupError(`${name} is unknown`)
  return value
}
