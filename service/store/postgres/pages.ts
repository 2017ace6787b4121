import { JsonText } from '../../http/json.ts'
import { BATCH_SIZE, type ShortPage } from '../lists.ts'
import { type Batched, Batcher } from '../batch.ts'
import type { Query } from './connections.ts'
import type { Row } from '../rows.ts'
import type { Plant } from '../store.ts'

const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n

/** Gives a row for a page: its plants as JSON, the id of its last plant, and whether more follow. */
const pageOf = (owner: string, first: string, most: string) =>
  `SELECT string_agg(plant, ',' ORDER BY id) AS plants, max(id) AS last,
    (SELECT id FROM plants WHERE owner = ${owner} AND id > max(found.id) ORDER BY id LIMIT 1) IS NOT NULL AS more
  FROM (SELECT id, plant FROM plants WHERE owner = ${owner} AND id >= ${first} ORDER BY id LIMIT ${most}) AS found`

const PAGE = pageOf('$1', '$2', '$3')
/** The same for many pages. */
const PAGES = `SELECT n, page.*
  FROM unnest($1::text[], $2::int8[], $3::int8[]) WITH ORDINALITY AS asked (caller, first, most, n)
  CROSS JOIN LATERAL (${pageOf('caller', 'first', 'most')}) AS page`

/** The values of PAGE. */
type PageRequest = [owner: string, first: bigint | null, most: number]

/** Reads pages. One statement reads all pages that are requested at the same time, and each page once. */
export class Pages {
  readonly #query: Query
  readonly #batches: Batcher<PageRequest, ShortPage>

  /** @param parallel how many statements may be under way at a time */
  constructor(query: Query, parallel = 1) {
    this.#query = query
    this.#batches = new Batcher((batch) => this.#read(batch), { max: BATCH_SIZE, parallel })
  }

  /** How many pages wait for a statement to be sent. */
  get waiting(): number {
    return this.#batches.waiting
  }

  /** Reads at most `most` plants of an owner, after an id or from the first. */
  get(owner: string, after: bigint | undefined, most: number): Promise<ShortPage> {
    return this.#batches.add([owner, firstAfter(after), most])
  }

  async #read(batch: readonly Batched<PageRequest, ShortPage>[]): Promise<void> {
    // Requests for the same page share a row. The key is unambiguous: only the owner may contain a space.
    const pages = [...Map.groupBy(batch, ({ item }) => item.join(' ')).values()]
    const [first = []] = pages.map(([request]) => request?.item ?? [])
    const columns = [0, 1, 2].map((column) => pages.map(([request]) => request?.item[column]))
    const { rows } = await (pages.length === 1
      ? this.#query(PAGE, first, 'page')
      : this.#query(PAGES, columns, 'pages'))
    for (const { n = 1, ...row } of rows) {
      const page = toPage(row)
      for (const { resolve } of pages[Number(n) - 1] ?? []) resolve(page)
    }
  }
}

/** The lowest id after an id, or of all. Null, which no id is equal to or greater than, if there is none. */
export function firstAfter(id: bigint | undefined): bigint | null {
  if (id === undefined) return INT64_MIN
  return id === INT64_MAX ? null : id + 1n
}

function toPage({ plants, last, more }: Row): ShortPage {
  const page = { plants: new JsonText<Plant[]>(`[${typeof plants === 'string' ? plants : ''}]`) }
  return more === true ? { ...page, last: BigInt(String(last)) } : page
}
