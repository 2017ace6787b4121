// Finds the operations of a contract, by method and path.
import type { Contract, Operation } from './contract.ts'

/** The methods of a path, as in `Allow`: those of the contract, OPTIONS, and HEAD beside GET. */
export function allowOf({ operations }: Contract, path: string): string {
  const own = operations.filter((operation) => operation.path === path).map(({ method }) => method)
  return [...new Set([...own, 'OPTIONS', ...(own.includes('GET') ? ['HEAD'] : [])])]
    .sort()
    .join(', ')
}

/** The patterns of paths, by path: each answer needs those of all paths, which may be hundreds. */
const patterns = new Map<string, RegExp>()

/** Whether a URL matches a path. */
export function matches(path: string, url: string): boolean {
  const pattern = patterns.get(path) ?? patternOf(path)
  patterns.set(path, pattern)
  return pattern.test(url)
}

function patternOf(path: string): RegExp {
  const texts = path.split(/{[^}]+}/).map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return new RegExp(`^${texts.join('[^/?]+')}([?]|$)`)
}

/** The operation of a request; undefined if there is none. */
export function operationOf(
  { operations, paths }: Contract,
  method: string,
  url: string,
): Operation | undefined {
  const own = method === 'HEAD' ? ['HEAD', 'GET'] : [method]
  // The path with more plain characters matches first.
  const plainness = (path: string) => path.replaceAll(/{[^}]+}/g, '').length
  const path =
    paths.find((template) => template === url.split('?')[0]) ??
    paths
      .filter((template) => matches(template, url))
      .sort((a, b) => plainness(b) - plainness(a))[0]
  return operations.find((operation) => operation.path === path && own.includes(operation.method))
}
