import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Config } from '../config.ts'
import type { Contract } from './contract.ts'
import { answerError } from '../http/errors.ts'
import { requestId } from '../http/headers.ts'
import { answerUnrouted } from '../http/methods.ts'

const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'self'"

/**
 * Serves the contract as `/openapi.yaml`, and as a page to try it out at `/docs/`.
 * @param config `BASE_URL` is where the page sends its requests; with `DOCS` off there is no page
 */
export function serveDocs(app: FastifyInstance, { bytes }: Contract, config: Pick<Config, 'BASE_URL' | 'DOCS'>): void {
  app.get('/openapi.yaml', async (_request, reply) => reply.type('application/yaml').send(bytes))
  if (config.DOCS === 'off') return

  // It is made when somebody comes to see it: each start would take a fifth longer.
  let page: Promise<FastifyInstance> | undefined
  for (const path of ['/docs', '/docs/', '/docs/json', '/docs/yaml', '/docs/static/*']) {
    app.get(path, async ({ id, raw }, reply) => {
      page ??= buildPage(app.log, config.BASE_URL).catch((error: unknown) => {
        page = undefined
        throw error
      })
      const made = await page
      // What has begun the request goes on to the page: its id, and the headers that all responses have.
      raw.headers['x-request-id'] = id
      for (const [name, value = ''] of Object.entries(reply.getHeaders())) reply.raw.setHeader(name, value)
      reply.hijack()
      made.routing(raw, reply.raw)
    })
  }
}

async function buildPage(log: FastifyBaseLogger, baseUrl: string): Promise<FastifyInstance> {
  const { default: swagger } = await import('@fastify/swagger')
  const { default: swaggerUi } = await import('@fastify/swagger-ui')
  const page = Fastify({
    loggerInstance: log,
    childLoggerFactory: (logger) => logger,
    genReqId: requestId,
    logController: new LogController({ disableRequestLogging: true }),
  })
  page.setErrorHandler(answerError)
  answerUnrouted(page)
  await page.register(swagger) // the page asks for this plugin; the copies that it would serve are not
  await page.register(swaggerUi, {
    routePrefix: '/docs',
    theme: { title: 'Plant Store' },
    uiConfig: { urls: [{ url: '../openapi.yaml', name: 'Plant Store' }], deepLinking: true, validatorUrl: null },
    uiHooks: { onRequest: redirect },
    staticCSP: `${CSP} ${URL.parse(baseUrl)?.origin ?? ''}`,
  })
  await page.ready()
  return page
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
