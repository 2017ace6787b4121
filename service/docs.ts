import { dirname } from 'node:path'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Contract } from './contract.ts'

// Relative, to hold behind any path prefix. The copies of the document that Swagger UI would serve round int64.
const REDIRECTS = new Map<string | undefined, string>([
  ['/docs/json', '../openapi.yaml'],
  ['/docs/yaml', '../openapi.yaml'],
  ['/docs/static/index.html', '../'],
])

/**
 * Serves the contract as `/openapi.yaml`, and as a page to try it out at `/docs/`.
 * @param baseUrl where the page sends its requests
 */
export async function serveDocs(app: FastifyInstance, { file, bytes }: Contract, baseUrl: string): Promise<void> {
  app.get('/openapi.yaml', async (_request, reply) => reply.type('application/yaml').send(bytes))

  await app.register(swagger, { mode: 'static', specification: { path: file, baseDir: dirname(file) } })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    theme: { title: 'Plant Store' },
    uiConfig: { urls: [{ url: '../openapi.yaml', name: 'Plant Store' }], deepLinking: true, validatorUrl: null },
    uiHooks: { onRequest: redirect },
    staticCSP: {
      'default-src': "'none'",
      'connect-src': ["'self'", ...(URL.canParse(baseUrl) ? [new URL(baseUrl).origin] : [])],
      'script-src': "'self'",
      'style-src': "'self' 'unsafe-inline'",
      'img-src': "'self' data:",
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
    },
  })
}

async function redirect({ url, routeOptions }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  const target = routeOptions.url === '/docs' ? toPage(url) : REDIRECTS.get(routeOptions.url)
  return target === undefined ? undefined : reply.redirect(target)
}

// The page's links to its files are relative only where the URL ends with a slash.
function toPage(url: string): string | undefined {
  if (url.endsWith('/')) return undefined
  return url.split('?')[0]?.endsWith('/') ? './' : 'docs/'
}
