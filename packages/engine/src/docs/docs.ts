// Serves the OpenAPI document and its page in Swagger UI.
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { FastifyInstance, RouteHandlerMethod } from 'fastify'
import type { Config } from '../config.ts'
import type { Contract } from '../contract/contract.ts'
import { escapeMarkup } from '../contract/error-forms.ts'
import { pathOfServer } from '../contract/servers.ts'

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src blob:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'self'"

const JAVASCRIPT = 'application/javascript; charset=utf-8'
const CSS = 'text/css; charset=utf-8'
const HTML = 'text/html; charset=utf-8'

/** Headers of a file for which the browser asks again at every use: 304 if it has not changed. */
const NOT_KEPT = { 'cache-control': 'no-cache' }
const KEPT = { 'cache-control': 'public, max-age=3600' }

/** The page to which an identity provider redirects after sign-in, and its script. */
const REDIRECT_PAGE = 'oauth2-redirect.html'
const REDIRECT_SCRIPT = 'oauth2-redirect.js'

const PAGE_SCRIPT = new URL('docs-page.js', import.meta.url)
const SWAGGER_UI = import.meta.resolve('@fastify/swagger-ui/static/swagger-ui.css')
/** Files of npm packages. They change only with the version of their package. */
const PACKAGE_FILES = [
  { url: new URL('swagger-ui-bundle.js', SWAGGER_UI), type: JAVASCRIPT },
  { url: new URL('swagger-ui.css', SWAGGER_UI), type: CSS },
  { url: new URL('js-yaml.min.js', import.meta.resolve('js-yaml')), type: JAVASCRIPT },
]

function pageOf(title: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeMarkup(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="static/swagger-ui.css">
<style>
  body { margin: 0 }
  .swagger-ui .schemes-server-container:has(option:only-child) { display: none !important }
  .dark-mode .swagger-ui :is(.header-col, .examples-select__section-label) { color: #e4e6e6 }
  @media (max-width: 640px) { .swagger-ui .responses-table > * > tr > td { display: block; width: auto } }
</style>
</head>
<body>
<div id="page"></div>
<script src="static/swagger-ui-bundle.js"></script>
<script src="static/js-yaml.min.js"></script>
<script src="static/docs.js"></script>
</body>
</html>
`
}

/**
 * Serves the contract as `/openapi.yaml`, and Swagger UI at `/docs/`. All links are relative, for
 * services behind a path prefix. `/` leads to the page, unless the contract has an operation there.
 * @param config with `DOCS` off there is no page
 */
export function serveDocs(
  app: FastifyInstance,
  { bytes, title, operations, providers }: Contract,
  config: Pick<Config, 'DOCS'>,
): void {
  app.get('/openapi.yaml', fileHandler(bytes, 'application/yaml', NOT_KEPT))
  if (config.DOCS === 'off') return

  const page = Buffer.from(pageOf(title))
  const pageHeaders = { ...NOT_KEPT, 'content-security-policy': [POLICY, ...providers].join(' ') }
  app.get('/docs/', fileHandler(page, HTML, pageHeaders))
  const readPackaged = (name: string) => readFileSync(new URL(name, SWAGGER_UI))
  app.get(`/docs/${REDIRECT_PAGE}`, fileHandler(readPackaged(REDIRECT_PAGE), HTML, pageHeaders))
  app.get(`/docs/${REDIRECT_SCRIPT}`, fileHandler(readPackaged(REDIRECT_SCRIPT), JAVASCRIPT, KEPT))
  const script = Buffer.from(`${String(pathOfServer)}\n${readFileSync(PAGE_SCRIPT, 'utf8')}`)
  app.get('/docs/static/docs.js', fileHandler(script, JAVASCRIPT, NOT_KEPT))
  for (const { url, type } of PACKAGE_FILES) {
    const name = basename(url.pathname)
    app.get(`/docs/static/${name}`, fileHandler(readFileSync(url), type, KEPT))
  }
  const redirect: RouteHandlerMethod = async (_request, reply) => reply.redirect('docs/')
  app.get('/docs', redirect)
  const isRootTaken = operations.some(
    ({ method, path }) => path === '/' && /^(GET|HEAD)$/.test(method),
  )
  if (!isRootTaken) app.get('/', redirect)
}

/**
 * Answers with bytes, or with 304 to a client whose copy is current (RFC 9110, section 13.1.2). All
 * answers share one buffer, so slow clients cost no memory.
 */
function fileHandler(
  bytes: Buffer,
  type: string,
  headers: Readonly<Record<string, string>>,
): RouteHandlerMethod {
  const etag = `"${hash('sha256', bytes, 'base64url')}"`
  return async (request, reply) => {
    reply.headers({ ...headers, 'content-type': type, etag })
    const isCurrent = isMatch(request.headers['if-none-match'], etag)
    return isCurrent ? reply.code(304).send() : reply.send(bytes)
  }
}

/** Whether an `If-None-Match` names an entity tag. Weak tags count (RFC 9110, section 8.8.3.2). */
function isMatch(header: string | undefined, etag: string): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\/(?=")/, ''))
  return tags.some((tag) => tag === etag || tag === '*')
}
