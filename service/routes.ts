import type { FastifyInstance, RouteOptions } from 'fastify'
import openapiGlue from 'fastify-openapi-glue'
import { type Answer, answer } from './answer.ts'
import type { Guard, Guards } from './auth.ts'
import { askForBody, requireJson } from './body.ts'
import { StartupError } from './config.ts'
import type { Contract, Service } from './contract.ts'

/** A service that has a method for each operation, and none that has no operation. */
export type Exactly<Methods> = Service & { readonly [_ in Exclude<keyof Methods, keyof Service>]: never }

/** What the methods of a service have in common: each gets what the contract has validated for it. */
type Method = (request: object) => Promise<Answer>

type Route = Pick<RouteOptions, 'onRequest' | 'preParsing' | 'handler'>

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
  const routes = new Map<string, Route>()
  const faults = [...methods.keys()]
    .filter((name) => !operations.has(name))
    .map((name) => `the method ${name} of the service has no operation`)
  for (const [id, { security, hasBody }] of operations) {
    const method = methods.get(id)
    if (method === undefined) faults.push(`the operation ${id} has no method in the service`)
    else
      routes.set(
        id,
        routeOf(
          method,
          security.flatMap((scheme) => guardOf.get(scheme) ?? []),
          hasBody,
        ),
      )
    for (const scheme of security.filter((scheme) => !guardOf.has(scheme))) {
      faults.push(`nothing guards the operation ${id} with ${scheme}`)
    }
  }
  if (faults.length > 0) throw new StartupError(faults.join('; '))

  await app.register(openapiGlue, {
    specification: document,
    operationResolver: (id, method, path) => {
      const route = routes.get(id)
      if (route === undefined) throw new StartupError(`the operation ${id} has no route`)
      return { ...route, method, url: path.replaceAll(/{(\w+)}/g, ':$1') }
    },
  })
}

function routeOf(method: Method, guards: readonly Guard[], hasBody: boolean): Route {
  return {
    onRequest: hasBody ? [...guards, requireJson] : [...guards],
    preParsing: hasBody ? askForBody : [],
    handler: async (request, reply) => {
      const { caller, params, query, body } = request
      return answer(request, reply, await method({ caller, path: params, query, body }))
    },
  }
}

/** The service's methods by name. A private one begins with `#`, so that all others are operations. */
function methodsOf(service: object): ReadonlyMap<string, Method> {
  const { constructor: _constructor, ...descriptors } = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(service))
  return new Map(Object.entries(descriptors).map(([name, { value }]) => [name, (value as Method).bind(service)]))
}
