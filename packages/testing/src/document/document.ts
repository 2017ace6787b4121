// Reads a contract as one document, by Redocly's library and not by the service.
import {
  BaseResolver,
  bundle,
  createConfig,
  type Document,
  type Source,
} from '@redocly/openapi-core'
import { upgradeFromThreeToThreeOne } from '@scalar/openapi-upgrader/3.0-to-3.1'
import { isScalar, parseDocument, visit } from 'yaml'
import { fields, isObject } from '../json/fields.ts'
import { toInteger } from '../json/json.ts'

/**
 * Parses YAML as the service does: with merge keys (https://yaml.org/type/merge.html), exact integers, and keys as written.
 * The name of a file is a URI's.
 */
class ExactResolver extends BaseResolver {
  override resolveExternalRef(base: string | null, ref: string): string {
    return super.resolveExternalRef(base, decodeURIComponent(ref))
  }

  /** Nothing is read from a URL, as in the service. */
  override async loadExternalRef(path: string): Promise<Source> {
    if (URL.canParse(path)) throw new Error('a URL is not read')
    return super.loadExternalRef(path)
  }

  override parseDocument(source: Source, isMain = false): Document {
    if (!isMain && !/\.(ya?ml|json)$/i.test(source.absoluteRef)) return super.parseDocument(source)
    const options = { intAsBigInt: true, merge: true, maxAliasCount: -1 }
    const revive = (key: unknown, value: unknown) => {
      if (typeof value === 'bigint') return toInteger(value)
      return key === 'properties' ? withoutEmpty(value) : withoutSiblings(value)
    }
    const document = parseDocument(source.body, options)
    visit(document, {
      Pair: (_, { key }) => {
        if (isScalar(key) && key.source !== undefined) key.value = key.source
      },
    })
    const parsed: unknown = document.toJS({ reviver: revive, maxAliasCount: -1 })
    return { source, parsed }
  }
}

/** The schemas of properties. An empty one has no effect. */
function withoutEmpty(value: unknown): unknown {
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([name, schema]) => [name, schema ?? {}] as const)
  return Object.fromEntries(entries)
}

/** Fields beside a reference with no effect on values. */
const BESIDE = /^(summary|description|parameters|servers|get|put|post|delete|patch|x-.*)$/

/** A schema with its reference in `allOf`: `bundle` drops the fields beside a reference to a reference. */
function withoutSiblings(value: unknown): unknown {
  const { $ref, allOf = [], ...rest } = fields(value)
  const isPlain = Object.keys(rest).every((key) => BESIDE.test(key)) && !('allOf' in fields(value))
  if (!isObject(value) || typeof $ref !== 'string' || isPlain) return value
  return { ...rest, allOf: [{ $ref }, ...Object.values(fields(allOf))] }
}

/**
 * Reads a contract, bundled: each remaining reference begins with `#/`.
 * @throws {Error} if a file can't be read, or is no YAML
 */
export async function readDocument(file: string): Promise<Record<string, unknown>> {
  const config = await createConfig({})
  const { bundle: document } = await bundle({
    ref: file,
    config,
    externalRefResolver: new ExactResolver(),
  })
  return fields(upgradeFromThreeToThreeOne(fields(document.parsed))) // 3.1 stays unchanged
}

/** The target of a reference, and of the references it leads to. @throws {Error} if it leads nowhere */
export function targetOf(root: unknown, reference: string): unknown {
  const names = reference.split('/').slice(1).map(unescape)
  const target = names.reduce((node, name) => fields(node)[name], root)
  if (target === undefined) throw new Error(`the reference ${reference} leads nowhere`)
  return target
}

/** An object, or the target of its reference with the fields beside it. Empty for other values. */
export function follow(root: unknown, node: unknown): Record<string, unknown> {
  const { $ref, ...rest } = fields(node)
  return typeof $ref === 'string'
    ? { ...follow(root, targetOf(root, $ref)), ...rest }
    : fields(node)
}

/** The entries of an object, or of its reference's target. */
export const followed = (root: unknown, node: unknown) =>
  Object.entries(follow(root, node)).map(([name, part]) => [name, follow(root, part)] as const)

/** The items of a list, each with its target. */
export const followedItems = (root: unknown, list: unknown) =>
  (Array.isArray(list) ? list : []).map((item) => follow(root, item))

/** A name within a JSON pointer in a URI fragment (RFC 6901, section 6). */
const unescape = (name: string) =>
  decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~')
