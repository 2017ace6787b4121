// Paths with parameters in a part of a segment, such as `/{id}.json` and `/{a}:{b}`. Such a segment is split at its plain text
// before it is decoded (RFC 3986, section 2.4): what is sent as `%3A` is no `:` of the path. The router decodes first, so it
// only proposes a route, and a constraint on the path as it was sent decides.
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { routerName } from './parameters.ts'

/** The name of the constraint in the router. */
const TEMPLATE = 'template'
/** A character of a segment as it is sent. An encoded one is not divided. */
const CHARACTER = '(?:%[\\dA-Fa-f]{2}|[^%/])'

/** Whether a segment has a parameter, and text beside it. */
const isMixed = (segment: string) => /[^/]{|}[^/]/.test(segment)

/** The path of an operation in the router's syntax, with the constraint that its mixed segments need. */
export function routeOf(path: string): Pick<RouteOptions, 'url' | 'constraints'> {
  const url = routerPath(path)
  return isMixed(path) ? { url, constraints: { [TEMPLATE]: templateOf(path).source } } : { url }
}

/**
 * Makes the function that reads the values of parameters from a path as it was sent, by their names in the router.
 * @param path of an operation
 * @returns undefined if the router itself can do it
 */
export function valuesOfPath(path: string): ((url: string) => object) | undefined {
  if (!isMixed(path)) return undefined
  const template = templateOf(path)
  const names = [...path.matchAll(/{([^}]+)}/g)].map(([, name = '']) => routerName(name))
  return (url) => {
    const [, ...values] = template.exec(pathOf(url)) ?? []
    const decoded = values.map((value, index) => [names[index], decodeURIComponent(value)])
    return Object.fromEntries(decoded) as object
  }
}

/** Lets routes have templates. Call it before they are added. */
export function addTemplates(app: FastifyInstance): void {
  app.addConstraintStrategy({
    name: TEMPLATE,
    storage: makeStorage,
    deriveConstraint: ({ url = '' }: IncomingMessage) => pathOf(url),
  })
}

/** Keeps what the router stores for the templates of one place in its tree. */
function makeStorage<Stored>() {
  const templates = new Map<string, { readonly template: RegExp; readonly stored: Stored }>()
  return {
    /** @param text a template, while routes are added; then a path as it was sent */
    get: (text: string): Stored | null => {
      const added = templates.get(text)
      return (
        (added ?? templates.values().find(({ template }) => template.test(text)))?.stored ?? null
      )
    },
    set: (text: string, stored: Stored) => {
      templates.set(text, { template: new RegExp(text), stored })
    },
  }
}

/** The path of a request target as it was sent, which may be an absolute URI (RFC 9112, section 3.2.2). */
function pathOf(url: string): string {
  return url.startsWith('/') ? url.replace(/[?#].*/s, '') : (URL.parse(url)?.pathname ?? '')
}

/** Matches a path as it was sent, with its parameters as groups. Only its mixed segments are compared. */
function templateOf(path: string): RegExp {
  const segments = path.split('/').map((segment) => {
    if (isMixed(segment)) return mixedSegment(segment)
    return segment.startsWith('{') ? `(${CHARACTER}+)` : `${CHARACTER}*`
  })
  return new RegExp(`^${segments.join('/')}$`)
}

/** The path in the router's syntax. A parameter in a mixed segment has a rule, for decoded characters. */
function routerPath(path: string): string {
  const segments = path.split('/').map((segment) => {
    const parts = segment.split(/{([^}]+)}/) // plain text and names in turn
    return parts.map((part, index) => {
      if (index % 2 === 0) return part.replaceAll(':', '::')
      const rule = isMixed(segment) ? `(${ruleOf(parts.slice(index + 1), '[^]')})` : ''
      return `:${routerName(part)}${rule}`
    })
  })
  return segments.map((parts) => parts.join('')).join('/')
}

/** A mixed segment as it is sent, as a regular expression. */
function mixedSegment(segment: string): string {
  const parts = segment.split(/{([^}]+)}/)
  const rules = parts.map((part, index) =>
    index % 2 === 0 ? RegExp.escape(part) : `(${ruleOf(parts.slice(index + 1), CHARACTER)})`,
  )
  return rules.join('')
}

/**
 * What a parameter in a mixed segment matches: at least one character. Each but the last of its segment ends where the text
 * after it first appears: so the time to match a path grows no faster than its length.
 * @param parts the text after the parameter, then the name of the next one
 * @param character matches a character of the parameter
 */
function ruleOf([after = '', next]: readonly string[], character: string): string {
  return next === undefined
    ? `${character}+`
    : `${character}(?:(?!${RegExp.escape(after)})${character})*`
}
