// A copy of the project that is another product: beside plants it keeps notes by text, with an int64, and changes both.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { copyProject } from './project.ts'

/** The count of a new note: no `number` holds all that follow. */
export const FIRST_COUNT = 2n ** 53n

const RESPONSES = `
        '404': { $ref: '#/components/responses/NotFound' }
        '409': { $ref: '#/components/responses/Conflict' }
        default: { $ref: '#/components/responses/Error' }`
const answer = (schema: string) =>
  `{ description: Done, content: { application/json: { schema: ${schema} } } }${RESPONSES}`
const NOTE = `{ $ref: '#/components/schemas/Note' }`

const PATHS = `    put:
      operationId: changePlant
      responses:
        '200': ${answer(`{ $ref: '#/components/schemas/Plant' }`)}
  /notes:
    post:
      operationId: createNote
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/NewNote' }, x-body-limit: 16384 } } }
      responses:
        '200': ${answer(NOTE)}
    get:
      operationId: listNotes
      responses:
        '200': ${answer(`{ type: array, items: ${NOTE} }`)}
  /notes/{key}:
    parameters: [{ name: key, in: path, required: true, schema: { type: string, maxLength: 100 } }]
    put:
      operationId: changeNote
      responses:
        '200': ${answer(NOTE)}
    delete:
      operationId: deleteNote
      responses:
        '204': { description: Done }${RESPONSES}

`
const SCHEMAS = `    Note:
      type: object
      required: [text, count]
      properties: { text: { type: string, maxLength: 2000 }, count: { type: integer, format: int64 } }
    NewNote:
      type: object
      required: [key, text]
      properties: { key: { type: string, maxLength: 100 }, text: { type: string, maxLength: 2000 } }
`

const SERVICE = `
import type { components, Request } from './contract.gen.ts'
import { refusal, type Collection } from './engine/index.ts'

type Note = components['schemas']['Note']
type Plant = components['schemas']['Plant']

export class NoteService {
  readonly #plants: Collection<Plant>
  readonly #notes: Collection<Note, string>

  constructor(plants: Collection<Plant>, notes: Collection<Note, string>) {
    this.#plants = plants
    this.#notes = notes
  }

  async changePlant({ caller, path: { id } }: Request<'changePlant'>) {
    const plant = await this.#plants.update(caller, id, (plant) => ({ ...plant, name: \`\${plant.name}+\` }))
    return plant === undefined ? refusal(404, 'No such plant') : { status: 200 as const, body: plant }
  }

  async createNote({ caller, body: { key, text } }: Request<'createNote'>) {
    const stored = await this.#notes.create(caller, key, { text, count: ${FIRST_COUNT}n })
    if (typeof stored.count !== 'bigint') throw new TypeError('a count is not a bigint')
    if (stored.text === text && stored.count === ${FIRST_COUNT}n) return { status: 200 as const, body: stored }
    return refusal(409, 'There is another note')
  }

  async listNotes({ caller }: Request<'listNotes'>) {
    return { status: 200 as const, body: (await this.#notes.list(caller)).items }
  }

  async changeNote({ caller, path: { key } }: Request<'changeNote'>) {
    const note = await this.#notes.update(caller, key, (note) => ({ ...note, count: note.count + 1n }))
    return note === undefined ? refusal(404, 'No such note') : { status: 200 as const, body: note }
  }

  async deleteNote({ caller, path: { key } }: Request<'deleteNote'>) {
    return (await this.#notes.delete(caller, key)) ? { status: 204 as const } : refusal(404, 'No such note')
  }
}
`

const PRODUCT = `
import { contract } from './contract.gen.ts'
import { defineProduct } from './engine/index.ts'
import { NoteService } from './note-service.ts'
import { PlantService } from './plant-service.ts'

export const product = defineProduct({
  name: 'second',
  tokenPrefix: 'plant',
  contract,
  collections: { plants: { schema: 'Plant', key: 'int64' }, notes: { schema: 'Note', key: 'text' } },
  services: ({ plants, notes }) => [new PlantService(plants), new NoteService(plants, notes)],
})
`

/** Makes the copy. @returns its folder */
export function copyAsSecondProduct(t: Test): string {
  const folder = copyProject(t)
  const file = `${folder}/openapi.yaml`
  const [paths = '', components = ''] = readFileSync(file, 'utf8').split(/(?<=\n)(?=components:\n)/)
  writeFileSync(file, paths.trimEnd() + `\n${PATHS}` + components.replace('  schemas:\n', `  schemas:\n${SCHEMAS}`))
  writeFileSync(`${folder}/service/note-service.ts`, SERVICE)
  writeFileSync(`${folder}/service/product.ts`, PRODUCT)
  execFileSync(process.execPath, ['service/generate.ts'], { cwd: folder, stdio: 'pipe' })
  return folder
}
