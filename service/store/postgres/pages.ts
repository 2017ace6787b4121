import { JsonText } from '../../http/json.ts'
import type { ShortPage } from '../lists.ts'
import type { Query } from './connections.ts'
import type { Row } from '../rows.ts'
import type { Plant } from '../store.ts'

const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n

/** A row for each page that is asked for: its plants as they are answered, the id of its last one, and whether more follow. */
const PAGES = `SELECT n, plants, last,
    (SELECT id FROM plants WHERE plants.owner = asked.owner AND id > last ORDER BY id LIMIT 1) IS NOT NULL AS more
  FROM unnest($1::text[], $2::int8[], $3::int8[]) WITH ORDINALITY AS asked (owner, first, most, n)
  CROSS JOIN LATERAL (
    SELECT string_agg(plant, ',' ORDER BY id) AS plants, max(id) AS last
    FROM (SELECT id, plant FROM plants WHERE plants.owner = asked.owner AND id >= first ORDER BY id LIMIT most) AS found
  ) AS page`

interface Asked {
  readonly owner: string
  readonly first: bigint
  readonly most: number
  readonly resolve: (page: ShortPage) => void
  readonly reject: (error: unknown) => void
}

/** Reads pages. Those that are asked for in one turn of the event loop are one statement. */
export class Pages {
  readonly #query: Query
  #asked: Asked[] = []

  constructor(query: Query) {
    this.#query = query
  }

  /** At most `most` plants of an owner after an id, or from the first one. */
  get(owner: string, after: bigint | undefined, most: number): Promise<ShortPage> {
    if (after === INT64_MAX) return Promise.resolve(toPage({}))
    const { promise, resolve, reject } = Promise.withResolvers<ShortPage>()
    const first = after === undefined ? INT64_MIN : after + 1n
    if (this.#asked.push({ owner, first, most, resolve, reject }) === 1) setImmediate(() => void this.#read())
    return promise
  }

  async #read(): Promise<void> {
    const asked = this.#asked
    this.#asked = []
    try {
      const columns = [asked.map(({ owner }) => owner), asked.map(({ first }) => first), asked.map(({ most }) => most)]
      const rows = await this.#query(PAGES, columns)
      for (const row of rows) asked[Number(row['n']) - 1]?.resolve(toPage(row))
    } catch (error) {
      for (const { reject } of asked) reject(error)
    }
  }
}

function toPage({ plants, last, more }: Row): ShortPage {
  const page = { plants: new JsonText<Plant[]>(`[${typeof plants === 'string' ? plants : ''}]`) }
  return more === true ? { ...page, last: BigInt(String(last)) } : page
}
