import { JsonText } from '../../http/json.ts'
import { BATCH_SIZE, type ShortPage } from '../lists.ts'
import { type Batched, Batcher } from '../batch.ts'
import type { Query } from './connections.ts'
import type { Row } from '../rows.ts'
import type { Plant } from '../store.ts'

const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n

/** Gives a row for each requested page: its plants as JSON, the id of its last plant, and whether more follow. */
const PAGES = `SELECT n, plants, last,
    (SELECT id FROM plants WHERE plants.owner = asked.owner AND id > last ORDER BY id LIMIT 1) IS NOT NULL AS more
  FROM unnest($1::text[], $2::int8[], $3::int8[]) WITH ORDINALITY AS asked (owner, first, most, n)
  CROSS JOIN LATERAL (
    SELECT string_agg(plant, ',' ORDER BY id) AS plants, max(id) AS last
    FROM (SELECT id, plant FROM plants WHERE plants.owner = asked.owner AND id >= first ORDER BY id LIMIT most) AS found
  ) AS page`

interface PageRequest {
  readonly owner: string
  readonly first: bigint
  readonly most: number
}

/** Reads pages. One statement reads all pages that are requested at the same time. */
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
  async get(owner: string, after: bigint | undefined, most: number): Promise<ShortPage> {
    if (after === INT64_MAX) return toPage({})
    return this.#batches.add({ owner, first: after === undefined ? INT64_MIN : after + 1n, most })
  }

  async #read(batch: readonly Batched<PageRequest, ShortPage>[]): Promise<void> {
    const columns = (['owner', 'first', 'most'] as const).map((name) => batch.map(({ item }) => item[name]))
    const rows = await this.#query(PAGES, columns)
    for (const row of rows) batch[Number(row['n']) - 1]?.resolve(toPage(row))
  }
}

function toPage({ plants, last, more }: Row): ShortPage {
  const page = { plants: new JsonText<Plant[]>(`[${typeof plants === 'string' ? plants : ''}]`) }
  return more === true ? { ...page, last: BigInt(String(last)) } : page
}
