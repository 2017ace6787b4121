import type { Request, Result, Service } from './contract/contract.ts'
import type { Store } from './store/store.ts'
import { refusal } from './contract/answer.ts'

/** The operations of the contract, a method for each operationId. */
export class PlantService implements Service {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  async createPayout({ caller, body: { id, ...plant } }: Request<'createPayout'>): Promise<Result<'createPayout'>> {
    const stored = await this.#store.create(caller, id, plant)
    if (stored.name === plant.name && stored.tag === plant.tag) return { status: 200, body: stored }
    return refusal(409, `Another plant has the id ${id}`)
  }

  async getPayout({ caller, query: { limit, cursor } }: Request<'getPayout'>): Promise<Result<'getPayout'>> {
    const after = cursor === undefined ? undefined : fromCursor(cursor)
    const { plants, last } = await this.#store.list(caller, after, limit)
    if (last === undefined) return { status: 200, body: plants }
    return { status: 200, body: plants, headers: { Link: `<?limit=${limit}&cursor=${toCursor(last)}>; rel="next"` } }
  }

  async deletePayout({ caller, path: { id } }: Request<'deletePayout'>): Promise<Result<'deletePayout'>> {
    if (await this.#store.delete(caller, id)) return { status: 204 }
    return refusal(404, 'No such plant')
  }
}

const INT64 = Buffer.alloc(8)

/** The cursor of the contract: the 8 bytes of the id after which a page begins, in base64url (RFC 4648, section 5). */
function toCursor(id: bigint): string {
  INT64.writeBigInt64BE(id)
  return INT64.toString('base64url')
}

function fromCursor(cursor: string): bigint {
  return Buffer.from(cursor, 'base64url').readBigInt64BE()
}
