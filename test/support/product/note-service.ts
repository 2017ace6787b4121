import { type Collection, refusal } from '@plant-store/engine'
import type { Changes } from './changes.ts'
import type { components, Request, Result } from './contract.gen.ts'

export type Note = components['schemas']['Note']

/** The count of a new note, beyond the exact range of a `number`. */
export const FIRST_COUNT = 2n ** 53n

/** The methods of notes, and the newer methods of plants. */
export class NoteService {
  readonly #plants: Collection<components['schemas']['Plant']>
  readonly #notes: Collection<Note, string>
  readonly #changes: Pick<Changes, 'add' | 'count'>

  constructor(
    plants: Collection<components['schemas']['Plant']>,
    notes: Collection<Note, string>,
    changes: Pick<Changes, 'add' | 'count'>,
  ) {
    this.#plants = plants
    this.#notes = notes
    this.#changes = changes
  }

  async changePlant({
    caller,
    path: { id },
  }: Request<'changePlant'>): Promise<Result<'changePlant'>> {
    const plant = await this.#plants.update(caller, id, (plant) => ({
      ...plant,
      name: `${plant.name}+`,
    }))
    return plant === undefined ? refusal(404, 'No such plant') : { status: 200, body: plant }
  }

  async createNote({
    caller,
    body: { key, text },
  }: Request<'createNote'>): Promise<Result<'createNote'>> {
    const stored = await this.#notes.create(caller, key, { text, count: FIRST_COUNT, by: caller })
    if (stored.text === text && stored.count === FIRST_COUNT) return { status: 200, body: stored }
    return refusal(409, 'There is another note')
  }

  async listNotes({ caller }: Request<'listNotes'>): Promise<Result<'listNotes'>> {
    return { status: 200, body: (await this.#notes.list(caller)).items }
  }

  async changeNote({
    caller,
    path: { key },
  }: Request<'changeNote'>): Promise<Result<'changeNote'>> {
    const note = await this.#notes.update(caller, key, (note) => ({
      ...note,
      count: note.count + 1n,
    }))
    if (note === undefined) return refusal(404, 'No such note')
    this.#changes.add(caller, key)
    return { status: 200, body: note }
  }

  async countChanges({ caller }: Request<'countChanges'>): Promise<Result<'countChanges'>> {
    return { status: 200, body: this.#changes.count(caller) }
  }

  async deleteNote({
    caller,
    path: { key },
  }: Request<'deleteNote'>): Promise<Result<'deleteNote'>> {
    return (await this.#notes.delete(caller, key)) ? { status: 204 } : refusal(404, 'No such note')
  }
}
