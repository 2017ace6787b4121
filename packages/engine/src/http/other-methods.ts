// Answers the methods that a path lacks: 405 with `Allow`, and 204 for OPTIONS.
import type { FastifyInstance, RouteOptions } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route is for methods that its path lacks. */
    isLacking?: boolean
    /** The path in the contract, for a route with parameters. */
    template?: string
  }
  interface FastifyInstance {
    readonly knownPaths: KnownPaths
  }
}

const PARAMETER = /{[^}]+}/

interface KnownPath extends Pick<RouteOptions, 'url' | 'constraints'> {
  /** As in the contract. */
  readonly template: string
  readonly methods: Set<string>
}

interface PathMatcher {
  /** Matches the path after it is decoded, but for `%2F`. */
  readonly decoded: RegExp
  /** Matches the path as sent: the constraint of its routes. */
  readonly sent: RegExp
  /** The header `Allow`. */
  readonly allow: string
}

/** The paths of a server, with their methods. */
export class KnownPaths {
  readonly #app: FastifyInstance
  readonly #paths = new Map<string, KnownPath>()
  /** In the order in which the router tries them. */
  #matchers: readonly PathMatcher[] = []

  constructor(app: FastifyInstance) {
    this.#app = app
    app.addHook('onRoute', (route) => this.#add(route))
  }

  #add({ url, method, config, constraints = {} }: RouteOptions): void {
    // @fastify/cors adds a route for OPTIONS of every path, which is no path by itself.
    if (config?.isLacking === true || url === '*') return
    const template = config?.template ?? url
    const key = orderOf(template)
    const path = this.#paths.get(key) ?? { url, constraints, template, methods: new Set() }
    for (const name of [method].flat()) path.methods.add(name)
    this.#paths.set(key, path)
  }

  /**
   * Adds routes for the methods that only other paths have: without them, `DELETE /things/search` could lead to
   * `/things/{id}`. All other methods get no route: the router would make a tree for each of them.
   */
  addRoutes(): void {
    const sorted = [...this.#paths].sort(([left], [right]) => (left < right ? -1 : 1))
    const paths = sorted.map(([, path]) => path)
    const used = new Set(paths.flatMap(({ methods }) => [...methods]))
    const config = { isLacking: true }
    const handler = () => undefined // `checkPath` answers
    for (const { url, constraints = {}, methods } of paths) {
      const method = [...used.difference(methods)]
      if (method.length > 0) this.#app.route({ method, url, constraints, config, handler })
    }
    this.#matchers = paths.map(matcherOf)
  }

  /** The methods of a path, for the header `Allow`. @param url a request target @returns undefined for an unknown path */
  allowOf(url: string): string | undefined {
    const sent = pathOf(url)
    const decoded = decodeURI(sent)
    return this.#matchers.find((path) => path.decoded.test(decoded) && path.sent.test(sent))?.allow
  }
}

/**
 * A key to sort paths in: the longer end of a segment is first, and a parameter last. The router tries `{a}.tar.gz` before
 * `{a}.gz` only if it was added before.
 */
export function orderOf(path: string): string {
  const segments = path.replaceAll(/{[^}]+}/g, '\x7f').split('/')
  return segments.map((segment) => Array.from(segment).reverse().join('')).join('/')
}

function matcherOf({ template, constraints = {}, methods }: KnownPath): PathMatcher {
  const parts = template.split(PARAMETER).map((part) => RegExp.escape(part))
  const decoded = new RegExp(`^${parts.join('[^/]+')}$`)
  const [sent = ''] = Object.values(constraints).map(String)
  return { decoded, sent: new RegExp(sent), allow: allowOf(methods) }
}

function allowOf(methods: ReadonlySet<string>): string {
  return [...new Set([...methods, 'OPTIONS'])].sort().join(', ')
}

/** The path of a request target as sent, which may be an absolute URI (RFC 9112, section 3.2.2). */
function pathOf(url: string): string {
  const [path = ''] = url.replace(/^https?:\/\/[^/?]*/i, '').split('?', 1)
  return path || '/'
}

/**
 * Prepares the answers to the methods that paths lack. Call it before routes are added.
 * @returns a function to complete them. Call it after all other routes are added
 */
export function answerOtherMethods(app: FastifyInstance): () => void {
  const paths = new KnownPaths(app)
  app.decorate('knownPaths', paths)
  return () => paths.addRoutes()
}
