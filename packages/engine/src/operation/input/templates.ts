// Routes paths with parameters in a part of a segment, such as `/{id}.json` and `/{a}:{b}`. Such a
// segment is split at its plain characters before it is decoded (RFC 3986, section 2.4): a `%3A` is
// no `:` of the path. The router decodes first. So the router only proposes a route, and a
// constraint on the undecoded path decides.
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, RouteOptions } from 'fastify'
import type { Parameter } from '../../contract/compiled.ts'
import { hasCommas } from './styles/index.ts'
import { routerName } from './styles/place.ts'

const TEMPLATE = 'template'
/** A character of a segment as sent. An encoded one is not divided. */
const CHARACTER = '(?:%[\\dA-Fa-f]{2}|[^%/])'

/**
 * Whether a segment has a parameter beside other characters; or whether a path has such a segment.
 */
function isMixed(segment: string): boolean {
  return /[^/]{|}[^/]/.test(segment)
}

/** The path of an operation in the router's syntax, with the constraint for its mixed segments. */
export function routeOf(path: string): Pick<RouteOptions, 'url' | 'constraints'> {
  const url = routerPath(path)
  return isMixed(path) ? { url, constraints: { [TEMPLATE]: templateOf(path).source } } : { url }
}

/**
 * Makes the function that reads the values of parameters from a path, by their names in the router.
 * A value with commas stays as sent: it is split before it is decoded.
 * @param path of an operation
 * @returns undefined if the router itself can do it
 */
export function valuesOfPath(
  path: string,
  parameters: readonly Parameter[],
): ((url: string) => object) | undefined {
  const withCommas = parameters.filter(hasCommas).map(({ name }) => name)
  if (!isMixed(path) && withCommas.length === 0) return undefined
  const template = templateOf(path)
  const names = [...path.matchAll(/{([^}]+)}/g)].map(([, name = '']) => name)
  return (url) => {
    const [, ...values] = template.exec(pathOf(url)) ?? []
    const read = values.map((value, index) => {
      const name = names[index] ?? ''
      const text = withCommas.includes(name) ? value : decodeURIComponent(value)
      return [routerName(name), text] as const
    })
    return Object.fromEntries(read)
  }
}

/** Lets routes have templates. To be called before routes are added. */
export function addTemplates(app: FastifyInstance): void {
  app.addConstraintStrategy({
    name: TEMPLATE,
    storage: makeStorage,
    deriveConstraint: ({ url = '' }: IncomingMessage) => pathOf(url),
  })
}

/** Stores the routes of the templates at one place in the tree of the router. */
function makeStorage<Stored>() {
  const templates = new Map<string, { readonly template: RegExp; readonly stored: Stored }>()
  return {
    /** @param text a template, while routes are added; then a path as sent */
    get: (text: string): Stored | null => {
      const added = templates.get(text)
      const matching = added ?? templates.values().find(({ template }) => template.test(text))
      return matching?.stored ?? null
    },
    set: (text: string, stored: Stored) => {
      templates.set(text, { template: new RegExp(text), stored })
    },
  }
}

/** The path of a request target as sent, which may be an absolute URI (RFC 9112, section 3.2.2). */
function pathOf(url: string): string {
  return url.startsWith('/') ? url.replace(/[?#].*/s, '') : (URL.parse(url)?.pathname ?? '')
}

/** Matches a path as sent, with its parameters as groups. Only its mixed segments are compared. */
function templateOf(path: string): RegExp {
  const segments = path.split('/').map((segment) => {
    if (isMixed(segment)) return mixedSegment(segment)
    return segment.startsWith('{') ? `(${CHARACTER}+)` : `${CHARACTER}*`
  })
  return new RegExp(`^${segments.join('/')}$`)
}

/**
 * The path in the router's syntax. A parameter in a mixed segment has a rule, for decoded
 * characters.
 */
function routerPath(path: string): string {
  const segments = path.split('/').map((segment) => {
    const { before, parameters } = splitSegment(segment)
    let written = escapeColons(before)
    for (const parameter of parameters) {
      const rule = isMixed(segment) ? `(${ruleOf(parameter, '[^]')})` : ''
      written += `:${routerName(parameter.name)}${rule}${escapeColons(parameter.after)}`
    }
    return written
  })
  return segments.join('/')
}

function escapeColons(text: string): string {
  return text.replaceAll(':', '::')
}

/** A mixed segment as sent, as a regular expression. */
function mixedSegment(segment: string): string {
  const { before, parameters } = splitSegment(segment)
  let source = RegExp.escape(before)
  for (const parameter of parameters)
    source += `(${ruleOf(parameter, CHARACTER)})${RegExp.escape(parameter.after)}`
  return source
}

interface SegmentParameter {
  readonly name: string
  /** The characters up to the next parameter, or to the end of the segment. */
  readonly after: string
  readonly isLast: boolean
}

/** @example `a{b}-{c}` is split into the text `a`, the parameter `b` with `-` after it, and the parameter `c` */
function splitSegment(segment: string): {
  readonly before: string
  readonly parameters: readonly SegmentParameter[]
} {
  const matches = [...segment.matchAll(/{([^}]+)}(.*?)(?={[^}]+}|$)/gs)]
  const [first] = matches
  const last = matches.at(-1)
  const parameters = matches.map((match) => {
    const [, name = '', after = ''] = match
    return { name, after, isLast: match === last }
  })
  return { before: segment.slice(0, first?.index), parameters }
}

/**
 * The regular expression of a parameter in a mixed segment: at least one character. It ends where
 * the characters after the parameter first appear, so the time to match a path grows no faster than
 * its length.
 * @param character matches a character of the parameter
 */
function ruleOf({ after, isLast }: SegmentParameter, character: string): string {
  return isLast ? `${character}+` : `${character}(?:(?!${RegExp.escape(after)})${character})*`
}
