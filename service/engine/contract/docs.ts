import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import type { Contract } from './contract.ts'
import { escapeMarkup } from './error-forms.ts'

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
<script src="static/docs.js"></script>
</body>
</html>
`

/**
 * Serves the contract as `/openapi.yaml`, and Swagger UI at `/docs/`. All links are relative, so that they work behind a path
 * prefix.
 * @param config the page sends its requests to `BASE_URL`; with `DOCS` off there is no page
 */
export function serveDocs(app: FastifyInstance, { bytes, title }: Contract, config: Config): void {
  type Read = () => Promise<Buffer> | Buffer | string
  const serve = (
    path: string,
    type: string,
    read: Read,
    headers: Record<string, string> = NOT_KEPT,
  ) =>
    app.get(path, async (_request, reply) =>
      reply.headers({ ...headers, 'content-type': type }).send(await read()),
    )

  serve('/openapi.yaml', 'application/yaml', () => bytes)
  if (config.DOCS === 'off') return
  const policy = `${CSP} ${URL.parse(config.BASE_URL)?.origin ?? ''}`
  serve('/docs/', 'text/html; charset=utf-8', () => pageOf(title), {
    ...NOT_KEPT,
    'content-security-policy': policy,
  })
  serve('/docs/static/docs.js', JAVASCRIPT, () => START_PAGE)
  serve('/docs/static/swagger-ui-bundle.js', JAVASCRIPT, () => fileOf('swagger-ui-bundle.js'), KEPT)
  serve(
    '/docs/static/swagger-ui.css',
    'text/css; charset=utf-8',
    () => fileOf('swagger-ui.css'),
    KEPT,
  )
  for (const path of ['/', '/docs'])
    app.get(path, async (_request, reply) => reply.redirect('docs/'))
}

const JAVASCRIPT = 'application/javascript; charset=utf-8'
const KEPT = { 'cache-control': 'public, max-age=3600' }
const NOT_KEPT = { 'cache-control': 'no-cache' }
const fileOf = (name: string) =>
  readFile(new URL(import.meta.resolve(`@fastify/swagger-ui/static/${name}`)))

/** Runs in the browser. JavaScript would round the integers beyond 2^53 of what is sent and answered. */
const START_PAGE = `{
  const { parse } = JSON
  const keepExact = (_, value, { source } = {}) =>
    Number.isInteger(value) && !Number.isSafeInteger(value) ? JSON.rawJSON(source) : value
  JSON.parse = (text, revive = keepExact) => parse(text, revive)
  if (matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.classList.add('dark-mode')
  SwaggerUIBundle({ dom_id: '#page', url: '../openapi.yaml', deepLinking: true, validatorUrl: null })
}`
