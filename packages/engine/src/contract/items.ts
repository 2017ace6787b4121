// Reads and writes the items of collections. An item is checked by its schema before it is stored.
import { isInt64, isObject, reachable, TOO_NESTED, Validator } from '@plant-store/json-schema'
import type { Contract } from './contract.ts'
import { HttpError } from '../errors.ts'
import { exactJson, parseJson } from '../http/json.ts'

type ItemSchemas = Pick<Contract, 'items' | 'product' | 'schemas'>

/**
 * Makes the reader of items, which turns int64s into `bigint`s. An item may be older than its
 * schema, and need not fit it.
 * @param schema the name of their schema in `components/schemas`
 */
export function itemReader(
  { items, product, schemas }: ItemSchemas,
  schema: string,
): (json: string) => unknown {
  const whole = { $ref: items[schema] ?? '' }
  const nodes = reachable(whole, ({ $ref = '' }) => schemas[$ref])
  const hasInt64 = nodes.some((node) => isObject(node) && isInt64(node))
  if (!hasInt64) return (json) => parseJson(Buffer.from(json))
  const validator = new Validator(schemas, 'stored', product.formats)
  return (json) => validator.decodeInt64s(whole, parseJson(Buffer.from(json)))
}

/**
 * Makes the writer of items. Properties with `readOnly` or `writeOnly` are not required.
 * @param schema the name of their schema in `components/schemas`
 * @returns a function from an item to its JSON
 * @throws {HttpError} 400 for an item nested too deep for its schema
 * @throws {Error} for an item refused by its schema, or changed by JSON
 */
export function itemWriter(contract: ItemSchemas, schema: string): (item: unknown) => string {
  const { items, product, schemas } = contract
  const read = itemReader(contract, schema)
  const validator = new Validator(schemas, 'storing', product.formats)
  const check = validator.compile('item', { $ref: items[schema] ?? '' })
  return (item) => {
    const json = exactJson(item)
    const loss = lossIn(item, 'item')
    const { error = loss, reason } = loss === undefined ? check(item) : {}
    if (reason?.keyword === 'nesting') throw ITEM_TOO_NESTED
    if (error !== undefined) throw new Error(`the item does not fit the schema ${schema}: ${error}`)
    readBack(json, read)
    return json
  }
}

const ITEM_TOO_NESTED = new HttpError(400, `item ${TOO_NESTED}`)

/** Reads an item before it is stored: its reader evaluates more of its schema than its writer. */
function readBack(json: string, read: (json: string) => unknown): void {
  try {
    read(json)
  } catch (error) {
    throw error instanceof RangeError ? ITEM_TOO_NESTED : error
  }
}

/**
 * The first loss if a value is written as JSON and read again.
 * @param path of the value, for the message
 */
function lossIn(value: unknown, path: string): string | undefined {
  if (value === null) return undefined
  if (typeof value === 'object') return lossInContainer(value, path)
  return lossInScalar(value, path)
}

function lossInScalar(value: unknown, path: string): string | undefined {
  switch (typeof value) {
    case 'boolean':
    case 'bigint':
      return undefined
    case 'string':
      return value.isWellFormed() ? undefined : `${path} has a lone surrogate`
    case 'number':
      return Number.isFinite(value) ? undefined : `${path} is ${value}`
    case 'undefined':
      return `${path} is undefined`
    default:
      return `${path} is a ${typeof value}`
  }
}

function lossInContainer(container: object, path: string): string | undefined {
  if (Array.isArray(container)) return lossInList(container, path)
  if (!isPlain(container)) return `${path} is a ${container.constructor.name}`
  return lossInObject(container, path)
}

function lossInList(list: readonly unknown[], path: string): string | undefined {
  for (let index = 0; index < list.length; index++) {
    const loss = lossIn(list[index], `${path}/${index}`)
    if (loss !== undefined) return loss
  }
  return undefined
}

/** An undefined property counts as absent. */
function lossInObject(value: object, path: string): string | undefined {
  for (const [name, property] of Object.entries<unknown>({ ...value })) {
    if (name === '__proto__') return `${path} has the name __proto__`
    if (!name.isWellFormed()) return `${path} has a name with a lone surrogate`
    const loss = property === undefined ? undefined : lossIn(property, `${path}/${name}`)
    if (loss !== undefined) return loss
  }
  return undefined
}

/** Whether an object is of no class. It may be of another realm, or have no prototype. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
