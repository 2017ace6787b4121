import { hash } from 'node:crypto'
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

/** A file that is served to browsers: its type, what it has, and whether a browser may keep it for an hour. */
type Served = readonly [type: string, read: () => Promise<Buffer | string> | Buffer | string, isKept?: true]

/**
 * Serves the contract as `/openapi.yaml`, and Swagger UI at `/docs/`. All links are relative, so that they work behind a path
 * prefix.
 * @param config the page sends its requests to `BASE_URL`; with `DOCS` off there is no page
 */
export function serveDocs(app: FastifyInstance, { bytes, title }: Contract, config: Config): void {
  const javascript = 'application/javascript; charset=utf-8'
  const page: Readonly<Record<string, Served>> = {
    '/docs/': ['text/html; charset=utf-8', () => pageOf(title)],
    '/docs/static/docs.js': [javascript, () => `(${String(startPage)})()`],
    '/docs/static/swagger-ui-bundle.js': [javascript, () => fileOf('swagger-ui-bundle.js'), true],
    '/docs/static/swagger-ui.css': ['text/css; charset=utf-8', () => fileOf('swagger-ui.css'), true],
  }
  const hasPage = config.DOCS !== 'off'
  const files = { '/openapi.yaml': ['application/yaml', () => bytes] as Served, ...(hasPage && page) }
  for (const [path, [type, read, isKept]] of Object.entries(files)) {
    app.get(path, async ({ headers }, reply) => {
      const body = await read()
      const etag = `"${hash('sha256', body, 'base64url')}"`
      reply.headers({ etag, 'cache-control': isKept ? 'public, max-age=3600' : 'no-cache' })
      // RFC 9110, section 13.1.2. A 304 must not have a Content-Type, which Fastify would set for an empty text.
      if (headers['if-none-match']?.includes(etag) === true) return reply.code(304).send()
      if (path === '/docs/')
        reply.header('content-security-policy', `${CSP} ${URL.parse(config.BASE_URL)?.origin ?? ''}`)
      return reply.type(type).send(body)
    })
  }
  if (hasPage) for (const path of ['/', '/docs']) app.get(path, async (_request, reply) => reply.redirect('docs/'))
}

const fileOf = (name: string) => readFile(new URL(import.meta.resolve(`@fastify/swagger-ui/static/${name}`)))

interface Options {
  readonly [name: string]: unknown
}
declare const SwaggerUIBundle: (options: Options) => unknown
declare const matchMedia: (query: string) => { readonly matches: boolean }
declare const document: { readonly documentElement: { readonly classList: { readonly add: (name: string) => void } } }

/** Runs in browsers, which get its source text: it must not use anything outside of it. */
function startPage() {
  // JavaScript would round the integers beyond 2^53 of what is sent and answered. These become BigInts.
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
  if (matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.classList.add('dark-mode')
  SwaggerUIBundle({ dom_id: '#page', url: '../openapi.yaml', deepLinking: true, validatorUrl: null })
}
