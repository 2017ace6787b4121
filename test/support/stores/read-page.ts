// Reads pages of a collection as values.
import { JsonText, type Key, type Page } from '@plant-store/engine/for-store'
import { parse } from '../inner/json.ts'
import type { Plant, TestStore } from './open-store.ts'

/** The parts of a page. @throws {TypeError} if the page is one string */
export function partsOf<Item>({ items }: Page<Item>): AsyncIterable<JsonText<Item[]>> {
  if (items instanceof JsonText) throw new TypeError('the list is not in parts')
  return items
}

/** The JSON of a page. @throws {TypeError} if the page is in parts */
export function textOf<Item>({ items }: Page<Item>): JsonText<Item[]> {
  if (!(items instanceof JsonText)) throw new TypeError('the list is in parts')
  return items
}

/** The values of JSON. A large int64 is a `bigint`. */
export function parsed<Value>({ text }: JsonText<Value>): Value {
  return parse(text) as Value // as the type of the JSON says
}

/** Reads a page, with its items as values. */
export async function read<Item>(
  page: Page<Item> | Promise<Page<Item>>,
): Promise<{ items: Item[]; next?: string }> {
  const { items, ...rest } = await page
  const parts = items instanceof JsonText ? [items] : await Array.fromAsync(items)
  return { items: parts.flatMap(parsed), ...rest }
}

/** The names of the plants of a page. */
export async function namesOf(page: Page<Plant> | Promise<Page<Plant>>): Promise<string[]> {
  return (await read(page)).items.map(({ name }) => name)
}

/** The names of all plants of an owner. */
export function namesIn(store: TestStore, owner: string): Promise<string[]> {
  return namesOf(store.list(owner))
}

/** The cursor of the page after a key. */
export function cursorOf(key: Key): string {
  const bytes = typeof key === 'string' ? Buffer.from(key) : Buffer.alloc(8)
  if (typeof key === 'bigint') bytes.writeBigInt64BE(key)
  return bytes.toString('base64url')
}
