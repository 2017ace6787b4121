// Checks an item before it is written: whether it can be in the indexes of its collection.
import { HttpError, type StoredIndex } from '@plant-store/engine/for-store'

/**
 * In UTF-8. PostgreSQL limits an entry of an index to 2704 bytes: of an owner, a key and these
 * values.
 */
const MAX_VALUES_BYTES = 512
const NUMBER_BYTES = 8
/** As JSON has it. */
const NUL = String.raw`\u0000`

/**
 * Makes the writer of items that can be in indexes.
 * @param write makes the JSON of an item
 * @returns a function that throws HttpError 400 for an item that can't be in them
 */
export function indexedWriter<Item>(
  indexes: readonly StoredIndex[],
  write: (item: Item) => string,
): (item: Item) => string {
  if (indexes.length === 0) return write
  return (item) => {
    const text = write(item) // first of all it fits its schema
    for (const index of indexes) {
      if (text.includes(NUL)) assertNames(index, item)
      assertFits(index, item)
    }
    return text
  }
}

/**
 * Refuses names with NUL beside an indexed property: SQLite takes them for what is before the NUL.
 * @throws {HttpError} 400
 */
function assertNames({ properties }: StoredIndex, item: unknown): void {
  for (const { path } of properties)
    for (const depth of path.keys()) {
      const names = Object.keys(valueAt(item, path.slice(0, depth)) ?? {})
      if (names.some(hasNul)) throw new HttpError(400, 'There is a NUL in the name of a property')
    }
}

/** @throws {HttpError} 400 */
function assertFits({ properties }: StoredIndex, item: unknown): void {
  const values = properties.map(({ path }) => valueAt(item, path) ?? undefined)
  if (values.includes(undefined)) return // the item is not in the index
  const names = properties.map(({ path }) => path.join('.'))
  const withNul = names.find((_, at) => hasNul(values[at]))
  if (withNul !== undefined) throw new HttpError(400, `There is a NUL in ${withNul}`)
  const bytes = values.map((value) =>
    typeof value === 'string' ? Buffer.byteLength(value) : NUMBER_BYTES,
  )
  const sum = bytes.reduce((sum, length) => sum + length, 0)
  if (sum <= MAX_VALUES_BYTES) return
  const together = names.length > 1 ? ' together' : ''
  const list = new Intl.ListFormat('en').format(names)
  throw new HttpError(400, `At most ${MAX_VALUES_BYTES} bytes fit into ${list}${together}`)
}

function hasNul(value: unknown): boolean {
  return typeof value === 'string' && value.includes('\0')
}

/** The value of a property; undefined if the item has none. */
export function valueAt(item: unknown, path: readonly string[]): unknown {
  let value = item
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = value[name as keyof typeof value]
  }
  return value
}
