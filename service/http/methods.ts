import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { METHODS } from './node.ts'
import { HttpError } from '../errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The methods of the path, if the route answers for those that the path has not. */
    allow?: string
  }
}

/**
 * Answers the methods that a path has not: OPTIONS with 204, any other with 405, both with `Allow` (RFC 9110, sections
 * 9.3.7 and 15.5.6). To be called before routes are added.
 * @returns what adds those routes, to be called when all others are there
 */
export function answerOtherMethods(app: FastifyInstance): () => void {
  const paths = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    paths.set(url, new Set([...(paths.get(url) ?? []), ...[method].flat()]))
  })
  return () => {
    const missing = METHODS.filter((method) => !app.supportedMethods.includes(method))
    for (const method of missing) app.addHttpMethod(method)
    for (const [url, known] of [...paths]) {
      const allow = [...new Set([...known, 'OPTIONS'])].sort().join(', ')
      const method = METHODS.filter((each) => !known.has(each))
      app.route({ method, url, config: { allow }, onRequest: answerOtherMethod, handler: () => undefined })
    }
  }
}

/** Before the body, if there is one, is read. */
function answerOtherMethod({ method, routeOptions }: FastifyRequest, reply: FastifyReply): void {
  const headers = { allow: routeOptions.config.allow ?? '' }
  if (method !== 'OPTIONS') throw new HttpError(405, `The path has no method ${method}`, headers)
  reply.code(204).headers(headers).send()
}

/** Refuses a path that no route has. An `onRequest` hook: before the body, if there is one, is read. */
export function checkPath(
  { is404, params, raw, routeOptions }: FastifyRequest,
  _reply: FastifyReply,
  done: () => void,
): void {
  // @fastify/cors adds a route for OPTIONS of every path. The router takes `OPTIONS *` for `/`, and an empty text for a
  // parameter: `/things/` for `/things/{id}`.
  if (is404 || routeOptions.url === '*' || raw.url === '*' || Object.values(params ?? {}).includes(''))
    throw noSuchPath()
  done()
}

export function noSuchPath(): HttpError {
  return new HttpError(404, 'There is no such path')
}
