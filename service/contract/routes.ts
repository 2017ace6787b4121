import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import openapiGlue from 'fastify-openapi-glue'
import { type Answer, answer } from './answer.ts'
import type { Contract, Operation, Service } from './contract.ts'
import { type Guard, type MakeGuard, requireCaller } from './security.ts'
import './validated.ts'
import { countHeader } from '../http/headers.ts'
import { StartupError, HttpError } from '../errors.ts'

/** A service that has a method for each operation, and none that has no operation. */
export type Exactly<Methods> = Service & { readonly [_ in Exclude<keyof Methods, keyof Service>]: never }

/** The hooks of an operation, in their order. @param guards for the security schemes that it requires */
export type OperationHooks = (
  guards: readonly Guard[],
  operation: Operation,
) => Pick<RouteShorthandOptions, 'onRequest' | 'preParsing'>

/** What the methods of a service have in common: each gets what the contract has validated for it. */
type Method = (request: object) => Promise<Answer>

/**
 * Adds a route for each operation of the contract: guarded, validated and serialized as it says, and answered by the
 * service's method of the same name.
 * @param draft whether the methods need not fit yet: an operation without one is then answered 501
 * @throws {StartupError} naming each operation without a method, and each method without an operation
 */
export async function addRoutes<Methods extends Exactly<Methods>>(
  app: FastifyInstance,
  { document, operations }: Contract,
  service: Methods,
  makeGuard: MakeGuard,
  hooks: OperationHooks = (guards) => ({ onRequest: requireCaller(guards) }),
  draft = false,
): Promise<void> {
  const methods = methodsOf(service)
  const misfits: string[] = []
  for (const name of methods.keys()) {
    if (!operations.has(name)) misfits.push(`the method ${name} of the service has no operation`)
  }
  for (const id of operations.keys()) {
    if (!methods.has(id)) misfits.push(`the operation ${id} has no method in the service`)
  }
  if (draft) for (const each of misfits) app.log.warn(each)
  else if (misfits.length > 0) throw new StartupError(misfits.join('; '))

  await app.register(openapiGlue, {
    specification: document,
    operationResolver: (id, method, path) => {
      const run = methods.get(id) ?? unwritten(id)
      const operation = operations.get(id)
      if (operation === undefined) throw new StartupError(`the operation ${id} has no route`)
      return {
        method,
        url: path.replaceAll(/{(\w+)}/g, ':$1'),
        ...hooks(operation.security.map(makeGuard), operation),
        handler: async (request: FastifyRequest, reply: FastifyReply) => {
          const { caller, params, query, body } = request
          const header = headersOf(request, operation.headers)
          return answer(request, reply, await run({ caller, path: params, query, header, body }))
        },
      }
    },
  })
}

/** What answers an operation until its method is written. */
function unwritten(id: string): Method {
  return () =>
    Promise.reject(new HttpError(501, `The operation ${id} needs a method ${id} in service/plant-service.ts`))
}

/** The header parameters of a request, by the names that the contract has for them. */
function headersOf({ headers, raw }: FastifyRequest, names: readonly string[]): object {
  const sent = names.filter((name) => headers[name] !== undefined)
  // Node makes one text of several, or drops some.
  const repeated = sent.find((name) => countHeader(raw, name.toLowerCase()) > 1)
  if (repeated !== undefined) throw new HttpError(400, `header/${repeated} must not be repeated`)
  return Object.fromEntries(sent.map((name) => [name, headers[name]]))
}

/** The service's methods by name. A private one begins with `#`, so that all others are operations. */
function methodsOf(service: object): ReadonlyMap<string, Method> {
  const { constructor: _constructor, ...descriptors } = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(service))
  return new Map(Object.entries(descriptors).map(([name, { value }]) => [name, (value as Method).bind(service)]))
}
