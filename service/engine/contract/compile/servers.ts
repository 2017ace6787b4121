// Compiles the servers of a contract: the service answers for all of them, below the path of the first.
import type * as openapi from './document.ts'
import type { Context } from './schemas.ts'

/** A segment is plain text and parameters, with text between two of them. The router uses `*` for its own syntax. */
export const PATH = /^(\/([\w.~!$&'()+,;=@:-]|{[^{}/]+}(?!{))+)*\/?$/

/** The path of the first server. A prefix of a gateway is in the variable `base_url`. */
export function readPrefix(
  { findings: { refuse, note } }: Context,
  { servers = [] }: Pick<openapi.PathItem, 'servers'>,
): string {
  const paths = servers.map(({ url, variables = {} }) => {
    const path = url
      .replace(/^{[^}]+}(?=\/|$)/, '')
      .replaceAll(/{([^}]+)}/g, (_, name: string) => variables[name]?.default ?? '')
    return (URL.parse(path, 'http://localhost')?.pathname ?? path).replace(/\/$/, '')
  })
  const [prefix = ''] = paths
  const [first] = servers
  if (first && !PATH.test(prefix)) refuse(first, `the path ${prefix} is not served: write {base_url} or /v1`, 'url')
  if (first && /[^{].*{/.test(first.url.replace(/^\w+:\/\/[^/]*/, ' ')))
    note(first, `variables in the path have their defaults: ${prefix}`, 'url')
  for (const [index, server] of servers.entries())
    if (paths[index] !== prefix) note(server, `only the path of the first server is served: ${prefix}/`, 'url')
  return prefix
}
