import { toInteger } from './json.ts'
import { fields, isObject } from './schemas.ts'

/** Replaces each reference by its target. In a schema, the keywords beside the reference apply, too. */
export function resolve(node: unknown, root: unknown): unknown {
  if (typeof node === 'bigint') return toInteger(node)
  if (Array.isArray(node)) return node.map((each) => resolve(each, root))
  if (!isObject(node)) return node
  const { $ref, ...others } = node
  const rest = Object.fromEntries(Object.entries(others).map(([key, value]) => [key, resolve(value, root)]))
  if (typeof $ref !== 'string') return rest
  const keys = $ref.split('/').slice(1)
  const target = resolve(
    keys.reduce((each, key) => fields(each)[unescape(key)], root),
    root,
  )
  return Object.keys(rest).every((key) => key === 'summary' || key === 'description')
    ? target
    : { allOf: [target, rest] }
}

function unescape(key: string): string {
  return decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~')
}
