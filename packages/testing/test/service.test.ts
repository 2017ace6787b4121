// A separate service with five operations: its `npm test`, and the time of it.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t, { type Test } from 'tap'
import { run } from '../../../test/support/processes/programs.ts'

const ERROR = '{ $ref: "#/components/responses/Error" }'
const note = (description: string) =>
  `{ description: ${description}, content: { application/json: { schema: { $ref: "#/components/schemas/Note" } } } }`
const OPENAPI = `openapi: 3.1.0
info: { title: Notes, version: 1.0.0 }
security: [{ token: [] }]
paths:
  /notes:
    get:
      operationId: listNotes
      parameters:
        - { name: limit, in: query, schema: { type: integer, minimum: 1, maximum: 100 }, example: 20 }
        - { name: cursor, in: query, schema: { type: string } }
      responses:
        '200':
          description: The notes of the caller
          headers: { Link: { schema: { type: string } } }
          content: { application/json: { schema: { type: array, items: { $ref: "#/components/schemas/Note" } } } }
        default: ${ERROR}
    post:
      operationId: createNote
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [id, text]
              additionalProperties: false
              properties:
                id: { $ref: "#/components/schemas/Id" }
                text: { $ref: "#/components/schemas/Text" }
                tags: { type: array, maxItems: 5, items: { type: string, maxLength: 20 } }
            example: { id: 7, text: Water the moss }
      responses: { '200': ${note('It')}, '409': ${ERROR}, default: ${ERROR} }
  /notes/{id}:
    parameters:
      - { name: id, in: path, required: true, schema: { $ref: "#/components/schemas/Id" }, example: 7 }
    get:
      operationId: getNote
      responses: { '200': ${note('It')}, '404': ${ERROR}, default: ${ERROR} }
    put:
      operationId: changeNote
      requestBody:
        required: true
        content: { application/json: { schema: { $ref: "#/components/schemas/Note" }, example: { text: Done } } }
      responses: { '200': ${note('It')}, '403': ${ERROR}, '404': ${ERROR}, '410': ${ERROR}, default: ${ERROR} }
    delete:
      operationId: deleteNote
      responses: { '204': { description: It is gone }, '404': ${ERROR}, default: ${ERROR} }
components:
  securitySchemes: { token: { type: http, scheme: bearer } }
  responses:
    Error:
      description: An error
      content: { application/json: { schema: { $ref: "#/components/schemas/Error" } } }
  schemas:
    Id: { type: integer, format: int64, minimum: 1 }
    Text: { type: string, minLength: 1, maxLength: 200 }
    Note:
      type: object
      required: [text]
      additionalProperties: false
      properties:
        text: { $ref: "#/components/schemas/Text" }
        tags: { type: array, maxItems: 5, items: { type: string, maxLength: 20 } }
    Error:
      type: object
      required: [error, message]
      properties: { error: { type: integer }, message: { type: string } }
`

const SERVICE = `import { refusal } from '@plant-store/engine'
const isSame = (a, b) => a.text === b.text && String(a.tags) === String(b.tags)
export class NoteService {
  #notes
  constructor(notes) { this.#notes = notes }
  async listNotes({ caller, query: { limit, cursor } }) {
    const { items, next } = await this.#notes.list(caller, { limit, cursor })
    const link = '<?' + new URLSearchParams({ ...(limit && { limit }), cursor: next }) + '>; rel="next"'
    return { status: 200, body: items, ...(next && { headers: { Link: link } }) }
  }
  async createNote({ caller, body: { id, ...note } }) {
    const stored = await this.#notes.create(caller, id, note)
    return isSame(stored, note) ? { status: 200, body: stored } : refusal(409, 'There is another note')
  }
  async getNote({ caller, path: { id } }) {
    const body = await this.#notes.find(caller, id)
    return body ? { status: 200, body } : refusal(404, 'No such note')
  }
  async changeNote({ caller, path: { id }, body: note }) {
    if (note.text === 'locked by the method') return refusal(403, 'No')
    if (note.text === 'gone by the method') return refusal(410, 'It was there')
    const body = await this.#notes.update(caller, id, () => note)
    return body ? { status: 200, body } : refusal(404, 'No such note')
  }
  async deleteNote({ caller, path: { id } }) {
    return (await this.#notes.delete(caller, id)) ? { status: 204 } : refusal(404, 'No such note')
  }
}
`

/** The code of product.ts. @param more fields of the product */
const product = (more: string) => `import { defineProduct } from '@plant-store/engine'
import { openStore } from '@plant-store/store'
import { contract } from './contract.gen.ts'
import { NoteService } from './note-service.js'
export const product = defineProduct({
  name: 'notes',
  contract,
  store: openStore,
  collections: { notes: { schema: 'Note', key: 'int64' } },
  ${more}
  services: ({ notes }) => [new NoteService(notes)],
})
`

const CONTRACT_TEST = `import { testContract } from '@plant-store/testing'
import { product } from '../service/product.ts'
await testContract(product)
`

/** A test of the statuses decided by methods only. */
const METHOD_TEST = `import { startProduct } from '@plant-store/testing'
import t from 'tap'
import { product } from '../service/product.ts'
const { call, token } = await startProduct(t, product)
t.test('a locked note is not changed', async (t) => {
  const ask = async (method, path, body) => (await call({ method, path, body, token: secret })).status
  const secret = await token('ann')
  t.equal(await ask('PUT', '/notes/7', { text: 'locked by the method' }), 403)
})
`

/** Writes the service, and generates its contract. @returns its folder */
async function prepare(t: Test, more = ''): Promise<string> {
  const folder = t.testdir({
    'package.json': '{ "type": "module" }',
    'openapi.yaml': OPENAPI,
    service: {
      'note-service.js': SERVICE,
      'product.ts': product(more),
      'generate.ts': `import { generate } from '@plant-store/compiler'
import { product } from './product.ts'
await generate(product)
`,
      'contract.gen.ts':
        'export const contract = { file: new URL("../openapi.yaml", import.meta.url).href, generated: import.meta.filename, sources: {}, operations: [] }\n',
    },
    test: { 'contract.test.ts': CONTRACT_TEST },
  })
  mkdirSync(`${folder}/node_modules`)
  for (const name of ['@plant-store', 'tap'])
    symlinkSync(resolve('node_modules', name), `${folder}/node_modules/${name}`)
  const generated = await run([process.execPath, 'service/generate.ts'], {}, folder)
  t.equal(generated.code, 0, generated.stderr)
  return folder
}

const testService = (folder: string) => {
  const bin = resolve('packages/testing/src/bin.ts')
  return run(['bash', '-c', `TIMEFORMAT='%U %S'; time ${process.execPath} ${bin}`], {}, folder)
}

t.test(
  'a service with five operations is tested in less than 30 seconds of processor time',
  async (t) => {
    const { code, stdout, stderr } = await testService(await prepare(t))
    t.equal(code, 0, stdout + stderr)
    t.match(stdout, /^ok {5}test\/contract\.test\.ts, [\d.]+ s$/m)
    t.match(stderr, /^changeNote 403: declared in openapi\.yaml, but no test has produced it$/m)
    const [, user, system] = /^([\d.]+) ([\d.]+)$/m.exec(stderr) ?? []
    const seconds = Number(user) + Number(system)
    t.comment(`${seconds} seconds`)
    t.ok(seconds < 30, `${seconds} seconds`)
  },
)

t.test('beside tests of its own, each status of the contract must be produced', async (t) => {
  const folder = await prepare(t)
  rmSync(`${folder}/test/contract.test.ts`) // its statuses would only take time
  writeFileSync(`${folder}/test/notes.test.ts`, METHOD_TEST)
  const { code, stdout, stderr } = await testService(folder)
  t.match(stdout, /^ok {5}test\/notes\.test\.ts/m)
  t.notMatch(stderr, 'changeNote 403')
  t.match(stderr, /^changeNote 410: declared in openapi\.yaml, but no test has produced it$/m)
  t.equal(code, 1)
})

t.test('an open that throws is named', async (t) => {
  const folder = await prepare(t, "open: async () => { throw new Error('no mail server') },")
  const { code, stdout } = await testService(folder)
  t.match(stdout, /the service does not start: open of the product notes: no mail server$/m)
  t.equal(code, 1)
})
