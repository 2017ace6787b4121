import type { FastifyInstance } from 'fastify'
import findMyWay from 'find-my-way'
import { HttpError } from '../errors.ts'

const NO_PATH = 'There is no such path'

/**
 * Answers what no route takes: 404 where there is no such path; on a known path, OPTIONS with 204 and any other
 * method with 405, both with `Allow` (RFC 9110, sections 9.3.7 and 15.5.6). To be called before routes are added.
 */
export function answerUnrouted(app: FastifyInstance): void {
  const methods = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    const known = methods.get(url) ?? new Set(['OPTIONS'])
    methods.set(url, known.union(new Set([method].flat())))
  })

  app.setNotFoundHandler(() => Promise.reject(new HttpError(404, NO_PATH)))
  const router = findMyWay(app.initialConfig.routerOptions)
  app.addHook('onReady', async () => {
    for (const [url, known] of methods) {
      router.on('GET', url, () => undefined, { url, allow: [...known].sort().join(', ') })
    }
  })

  // Before the body, if there is one, is read.
  app.addHook('onRequest', (request, reply, done) => {
    const isTemplate = Object.keys(request.params ?? {}).length > 0
    if (!request.is404 && !isTemplate) {
      done()
      return
    }
    const path = router.find('GET', request.url)
    if (path === null || hasEmpty(path.params)) throw new HttpError(404, NO_PATH)
    // A path without parameters goes before a template that it would fit (OpenAPI 3.1.0, section 4.8.8.2).
    const { allow, url } = path.store as { allow: string; url: string } // as it was given in onReady
    const headers = { allow }
    if (request.routeOptions.url === url) done()
    else if (request.method === 'OPTIONS') reply.code(204).headers(headers).send()
    else throw new HttpError(405, `The path has no method ${request.method}`, headers)
  })
}

/** The router takes an empty text for a parameter, too: `/plants/` for `/plants/{id}`. */
function hasEmpty(parameters: unknown): boolean {
  return Object.values(parameters ?? {}).includes('')
}
