import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from './config.ts'
import type { Contract } from './contract.ts'

const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'self'"

/**
 * Serves the contract as `/openapi.yaml`, and as a page to try it out at `/docs/`.
 * @param config `BASE_URL` is where the page sends its requests; with `DOCS` off there is no page
 */
export async function serveDocs(
  app: FastifyInstance,
  { bytes }: Contract,
  { BASE_URL, DOCS }: Pick<Config, 'BASE_URL' | 'DOCS'>,
): Promise<void> {
  app.get('/openapi.yaml', async (_request, reply) => reply.type('application/yaml').send(bytes))
  if (DOCS === 'off') return

  await app.register(swagger) // the page asks for this plugin; the copies that it would serve are not
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    theme: { title: 'Plant Store' },
    uiConfig: { urls: [{ url: '../openapi.yaml', name: 'Plant Store' }], deepLinking: true, validatorUrl: null },
    uiHooks: { onRequest: redirect },
    staticCSP: `${CSP} ${URL.parse(BASE_URL)?.origin ?? ''}`,
  })
}

/** Redirects relatively, to hold behind any path prefix. */
async function redirect({ url, routeOptions }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  const route = routeOptions.url
  // These copies of the document would round int64.
  if (route === '/docs/json' || route === '/docs/yaml') return reply.redirect('../openapi.yaml')
  if (route === '/docs/static/index.html') return reply.redirect('../')
  // The page's links to its files are relative only where the URL ends with a slash.
  if (route !== '/docs' || url.endsWith('/')) return undefined
  return reply.redirect(url.split('?')[0]?.endsWith('/') ? './' : 'docs/')
}
