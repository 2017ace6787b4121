// The methods of the plants: one for each operation of the contract.
import type { components, Request, Result } from './contract.gen.ts'
import { refusal, type Collection } from '@plant-store/engine'

/**
 * A name of white space only. The contract refuses ASCII white space by a pattern; Unicode's is refused here, because some
 * client generators can't read it in a pattern.
 */
const BLANK = /^[\s\x1C-\x1F\x85]*$/

export class PlantService {
  readonly #plants: Collection<components['schemas']['Plant']>

  constructor(plants: Collection<components['schemas']['Plant']>) {
    this.#plants = plants
  }

  async createPayout({
    caller,
    body: { id, ...plant },
  }: Request<'createPayout'>): Promise<Result<'createPayout'>> {
    if (BLANK.test(plant.name))
      return refusal(400, 'body/name must have a character that is not white space')
    const stored = await this.#plants.create(caller, id, plant)
    if (stored.name === plant.name && stored.tag === plant.tag) return { status: 200, body: stored }
    return refusal(409, `Another plant has the id ${id}`)
  }

  async getPayout({
    caller,
    query: { limit, cursor },
  }: Request<'getPayout'>): Promise<Result<'getPayout'>> {
    const { items, next } = await this.#plants.list(caller, { limit, cursor })
    return {
      status: 200,
      body: items,
      headers: { Link: next && `<?limit=${limit}&cursor=${next}>; rel="next"` },
    }
  }

  async deletePayout({
    caller,
    path: { id },
  }: Request<'deletePayout'>): Promise<Result<'deletePayout'>> {
    if (await this.#plants.delete(caller, id)) return { status: 204 }
    return refusal(404, 'No such plant')
  }
}
