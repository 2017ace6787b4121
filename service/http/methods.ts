import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { METHODS } from './node.ts'
import { HttpError } from '../errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The methods of the path, on the route that answers all other methods. */
    allow?: string
  }
}

/**
 * Answers the methods that a path does not have: OPTIONS with 204, any other with 405, both with `Allow` (RFC 9110,
 * sections 9.3.7 and 15.5.6). To be called before routes are added.
 * @returns a function that adds these routes, to be called when all others are there
 */
export function answerOtherMethods(app: FastifyInstance): () => void {
  const paths = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    paths.set(url, new Set([...(paths.get(url) ?? []), ...[method].flat()]))
  })
  return () => {
    for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
    for (const [url, known] of [...paths]) {
      const allow = [...new Set([...known, 'OPTIONS'])].sort().join(', ')
      const method = METHODS.filter((each) => !known.has(each))
      app.route({ method, url, config: { allow }, onRequest: answerOtherMethod, handler: () => undefined })
    }
  }
}

export const NO_SUCH_PATH = new HttpError(404, 'There is no such path')

/** A hook, because a handler would run after the body was read. */
function answerOtherMethod({ method, routeOptions }: FastifyRequest, reply: FastifyReply): void {
  const headers = { allow: routeOptions.config.allow ?? '' }
  if (method !== 'OPTIONS') throw new HttpError(405, `The path has no method ${method}`, headers)
  reply.code(204).headers(headers).send()
}

/** Refuses a path that no route has, before its body is read. An `onRequest` hook. */
export function checkPath(
  { is404, params, raw, routeOptions }: FastifyRequest,
  _reply: FastifyReply,
  done: () => void,
): void {
  // @fastify/cors adds a route for OPTIONS of every path. The router takes `OPTIONS *` for `/`, and an empty text for a
  // parameter: `/things/` for `/things/{id}`.
  const isUnknown = is404 || routeOptions.url === '*' || raw.url === '*' || Object.values(params ?? {}).includes('')
  if (isUnknown) throw NO_SUCH_PATH
  done()
}
