import { JsonText } from '../../service/http/json.ts'
import type { Page, Plant, Store } from '../../service/store/store.ts'

/** The batches of a page. @throws {TypeError} if the page is not in batches */
export function batchesOf({ plants }: Page): AsyncIterable<JsonText<Plant[]>> {
  if (plants instanceof JsonText) throw new TypeError('the list is not in batches')
  return plants
}

/** The values of a JSON text. */
export function parsed<Value>({ text }: JsonText<Value>): Value {
  return JSON.parse(text) as Value // as the type of the text says
}

/** Reads a page, with its plants as values. */
export async function read(page: Page | Promise<Page>): Promise<{ plants: Plant[]; last?: bigint }> {
  const { plants, ...rest } = await page
  const batches = plants instanceof JsonText ? [plants] : await Array.fromAsync(plants)
  return { plants: batches.flatMap(parsed), ...rest }
}

/** The names of the plants of a page. */
export async function namesOf(page: Page | Promise<Page>): Promise<string[]> {
  return (await read(page)).plants.map(({ name }) => name)
}

/** The names of all plants of an owner. */
export function namesIn(store: Store, owner: string): Promise<string[]> {
  return namesOf(store.list(owner))
}
