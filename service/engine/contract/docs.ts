import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { FastifyInstance, RouteHandlerMethod } from 'fastify'
import type { Config } from '../config.ts'
import type { Contract } from './contract.ts'
import { escapeMarkup } from './error-forms.ts'
import { pathOfServer } from './servers.ts'

const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'self'"

/** The page. With only one server there is nothing to choose. */
const pageOf = (title: string) => `<!DOCTYPE html>
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

/**
 * Serves the contract as `/openapi.yaml`, and Swagger UI at `/docs/`. All links are relative, so that
 * they work behind a path prefix.
 * @param config with `DOCS` off there is no page
 */
export function serveDocs(
  app: FastifyInstance,
  { bytes, title }: Contract,
  config: Pick<Config, 'DOCS'>,
): void {
  const serve = (path: string, type: string, content: Buffer, headers = NOT_KEPT) =>
    app.get(path, handlerOf(content, { ...headers, 'content-type': type }))

  serve('/openapi.yaml', 'application/yaml', bytes)
  if (config.DOCS === 'off') return
  serve('/docs/', 'text/html; charset=utf-8', Buffer.from(pageOf(title)), PAGE_HEADERS)
  const script = `${String(pathOfServer)}\n${readFileSync(PAGE_SCRIPT, 'utf8')}`
  serve('/docs/static/docs.js', JAVASCRIPT, Buffer.from(script))
  for (const [url, type] of PACKAGE_FILES)
    serve(`/docs/static/${basename(url.pathname)}`, type, readFileSync(url), KEPT)
  for (const path of ['/', '/docs'])
    app.get(path, async (_request, reply) => reply.redirect('docs/'))
}

const JAVASCRIPT = 'application/javascript; charset=utf-8'
/** A browser asks each time whether it has changed. */
const NOT_KEPT = { 'cache-control': 'no-cache' }
const KEPT = { 'cache-control': 'public, max-age=3600' }
const PAGE_HEADERS = { ...NOT_KEPT, 'content-security-policy': CSP }
const PAGE_SCRIPT = new URL('docs-page.js', import.meta.url)
const SWAGGER_UI = import.meta.resolve('@fastify/swagger-ui/static/swagger-ui.css')
/** They change with a new version of their package only. */
const PACKAGE_FILES = [
  [new URL('swagger-ui-bundle.js', SWAGGER_UI), JAVASCRIPT],
  [new URL('swagger-ui.css', SWAGGER_UI), 'text/css; charset=utf-8'],
  [new URL('js-yaml.min.js', import.meta.resolve('js-yaml')), JAVASCRIPT],
] as const

/**
 * Answers with bytes, or 304 to a client that has them (RFC 9110, section 13.1.2). All answers share
 * the bytes: a client that takes nothing of its answer holds no copy of them.
 */
function handlerOf(bytes: Buffer, headers: Readonly<Record<string, string>>): RouteHandlerMethod {
  const etag = `"${hash('sha256', bytes, 'base64url')}"`
  return async ({ headers: { 'if-none-match': tags } }, reply) => {
    reply.headers({ ...headers, etag })
    return isMatch(tags, etag) ? reply.code(304).send() : reply.send(bytes)
  }
}

/** Whether an `If-None-Match` names an entity tag. Weak tags count (RFC 9110, section 8.8.3.2). */
function isMatch(header: string | undefined, etag: string): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\/(?=")/, ''))
  return tags.some((tag) => tag === etag || tag === '*')
}
