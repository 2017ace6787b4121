import { hash } from 'node:crypto'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import type { Contract } from './contract.ts'
import { makeServer } from '../http/server.ts'

const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'self'"

/** With only one server there is nothing to choose. */
const CSS = `
  .swagger-ui :is(.topbar, .schemes-server-container:has(option:only-child)) { display: none !important }
  .dark-mode .swagger-ui :is(.header-col, .examples-select__section-label) { color: #e4e6e6 }
  @media (max-width: 640px) { .swagger-ui .responses-table > * > tr > td { display: block; width: auto } }
`

/** Without it, a phone lays the page out for a desktop. Swagger UI has no setting for it. */
const VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">'

/** Redirects to the page. Their targets are relative, so that they work behind a path prefix. */
const REDIRECTS = { '/': 'docs/', '/docs': 'docs/', '/docs/static/index.html': '../' }

/**
 * Serves the contract as `/openapi.yaml`, and Swagger UI at `/docs/`.
 * @param config the page sends its requests to `BASE_URL`; with `DOCS` off there is no page
 */
export function serveDocs(app: FastifyInstance, { bytes, title }: Contract, config: Config): void {
  app.get('/openapi.yaml', async (request, reply) => sendWithEtag(request, reply.type('application/yaml'), bytes))
  if (config.DOCS === 'off') return

  for (const [path, target] of Object.entries(REDIRECTS)) {
    app.get(path, async (_request, reply) => reply.redirect(target))
  }
  // The page is made at the first request for it: to make it at each start would take a fifth longer.
  let page: Promise<FastifyInstance> | undefined
  for (const path of ['/docs/', '/docs/static/*']) {
    app.get(path, async (request, reply) => {
      const { id, headers, url } = request
      // The page links to its files by relative addresses only if its URL ends with a slash.
      if (path === '/docs/' && url.includes('?')) return reply.redirect('./')
      page ??= buildPage(app.log, config, title)
      page.catch(() => (page = undefined))
      const answer = await (await page).inject({ method: 'GET', url, headers: { ...headers, 'x-request-id': id } })
      const { connection: _connection, ...pageHeaders } = answer.headers
      reply.code(answer.statusCode).headers(pageHeaders)
      if (answer.statusCode === 200 && pageHeaders.etag === undefined)
        return sendWithEtag(request, reply, answer.payload.replace('<head>', `$&${VIEWPORT}`))
      if (pageHeaders.etag !== undefined) reply.header('cache-control', 'public, max-age=3600')
      // Fastify would set a Content-Type for an empty buffer, which a 304 must not have.
      return reply.send(answer.rawPayload.length > 0 ? answer.rawPayload : undefined)
    })
  }
}

/** Sends a body with an `ETag`; 304 if the browser has it already (RFC 9110, section 13.1.2). */
async function sendWithEtag({ headers }: FastifyRequest, reply: FastifyReply, body: Buffer | string) {
  const etag = `"${hash('sha256', body, 'base64url')}"`
  reply.headers({ etag, 'cache-control': 'no-cache' })
  if (headers['if-none-match']?.includes(etag) !== true) return reply.send(body)
  return reply.code(304).removeHeader('content-type').removeHeader('content-length').send()
}

async function buildPage(log: FastifyBaseLogger, config: Config, title: string): Promise<FastifyInstance> {
  const { default: swagger } = await import('@fastify/swagger')
  const { default: swaggerUi } = await import('@fastify/swagger-ui')
  const page = makeServer({ config, log, maxConnections: 0 })
  await page.register(swagger) // swagger-ui requires this plugin; the document that it makes is not used
  await page.register(swaggerUi, {
    routePrefix: '/docs',
    theme: { title, css: [{ filename: 'docs.css', content: CSS }] },
    uiConfig: {
      urls: [{ url: '../openapi.yaml', name: title }],
      plugins: [exactIntegers],
      deepLinking: true,
      validatorUrl: null,
    },
    staticCSP: `${CSP} ${URL.parse(config.BASE_URL)?.origin ?? ''}`,
  })
  await page.ready()
  return page
}

/**
 * A plugin of Swagger UI, in which JavaScript would round the integers beyond 2^53 of what is sent and answered. Browsers get
 * the source text of this function, so it must not use anything outside of it.
 */
function exactIntegers() {
  const { parse } = JSON
  JSON.parse = (text: string, revive?: ((name: string, value: unknown) => unknown) | null): unknown =>
    parse(text, (name: string, value: unknown, { source = '' }: { source?: string } = {}): unknown => {
      const isRounded = typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
      const exact = isRounded ? BigInt(source) : value
      return revive ? revive(name, exact) : exact
    })
  Object.assign(BigInt.prototype, {
    toJSON(this: bigint) {
      return JSON.rawJSON(String(this))
    },
  })
  return {}
}
