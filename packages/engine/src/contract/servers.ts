// Finds the path of a server in the contract.

export interface Server {
  readonly url: string
  readonly variables?: Readonly<Record<string, { readonly default?: string }>>
}

/**
 * The path under which the service serves the operations of a server, such as `/v1`. A gateway's
 * prefix stands in the variable `base_url`, and is no part of it. A variable without a default is
 * unknown. Segments impossible in the path of an operation are left out. The docs page runs this
 * function, too, so it uses nothing else of this file.
 */
export function pathOfServer({ url, variables }: Server): string {
  const path = url
    .replace(/^{base_url}(?=\/|$)/, '')
    .replaceAll(/{([^}]+)}/g, (_, name: string) => variables?.[name]?.default ?? '*')
  const pathname = URL.parse(path, 'http://localhost')?.pathname ?? path
  const segments = pathname.split('/').filter((segment) => /^[\w.~!$&'()+,;=@:-]+$/.test(segment))
  return segments.map((segment) => `/${segment}`).join('')
}
