// Items of collections: each is checked by its schema before it is stored, and each int64 of it becomes a `bigint` when it is read.
import { isObject } from '../json-schema/assertions.ts'
import type { Contract } from './contract.ts'
import { reachable } from '../json-schema/joint-schemas.ts'
import { Validators } from './validation.ts'
import { exactJson, parseJson } from '../http/json.ts'

type Part = Pick<Contract, 'items' | 'product' | 'schemas'>

/**
 * Makes the reader of items. An item may be older than its schema, and need not fit it.
 * @param schema the name of their schema in `components/schemas`
 */
export function itemReader(
  { items, product, schemas }: Part,
  schema: string,
): (text: string) => unknown {
  const whole = { $ref: items[schema] ?? '' }
  const nodes = reachable(whole, ({ $ref = '' }) => schemas[$ref])
  const hasInt64 = nodes.some((node) => isObject(node) && node['format'] === 'int64')
  if (!hasInt64) return (text) => parseJson(Buffer.from(text))
  const validators = new Validators(schemas, 'item', product.formats)
  return (text) => validators.toExact(whole, parseJson(Buffer.from(text)))
}

/**
 * Makes the writer of items, which says why one can't be stored. A member that is `readOnly` or `writeOnly` is not required.
 * @param schema the name of their schema in `components/schemas`
 * @returns a function that makes JSON of an item
 * @throws {Error} for an item that does not fit its schema, or would not be read as it was written
 */
export function itemWriter(
  { items, product, schemas }: Part,
  schema: string,
): (item: unknown) => string {
  const validators = new Validators(schemas, 'newItem', product.formats)
  const check = validators.compile('item', { $ref: items[schema] ?? '' })
  return (item) => {
    const text = exactJson(item)
    const fault = lossIn(item, 'item') ?? check(item).fault
    if (fault === undefined) return text
    throw new Error(`this is no item of the schema ${schema}: ${fault}`)
  }
}

/** What of a value JSON would change or leave out, or what could not be read again. @param path of the value, for the words */
function lossIn(value: unknown, path: string): string | undefined {
  if (typeof value === 'string')
    return value.isWellFormed() ? undefined : `${path} has a lone surrogate`
  if (typeof value === 'boolean' || typeof value === 'bigint' || value === null) return undefined
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${path} is ${value}`
  if (typeof value !== 'object') return `${path} is ${nameOf(value)}`
  if (Array.isArray(value)) return lossInList(value, path)
  if (!isPlain(value)) return `${path} is a ${value.constructor.name}`
  return lossInObject(value, path)
}

const nameOf = (value: unknown) => (value === undefined ? 'undefined' : `a ${typeof value}`)

function lossInList(list: readonly unknown[], path: string): string | undefined {
  for (let index = 0; index < list.length; index++) {
    const loss = lossIn(list[index], `${path}/${index}`)
    if (loss !== undefined) return loss
  }
  return undefined
}

/** A member that is undefined is none. */
function lossInObject(value: object, path: string): string | undefined {
  for (const [name, member] of Object.entries<unknown>({ ...value })) {
    if (name === '__proto__') return `${path} has the name __proto__`
    if (!name.isWellFormed()) return `${path} has a name with a lone surrogate`
    const loss = member === undefined ? undefined : lossIn(member, `${path}/${name}`)
    if (loss !== undefined) return loss
  }
  return undefined
}

/** Whether an object is of no class. Also one of another realm, or without a prototype. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
