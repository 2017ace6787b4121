// A service generated from a contract with unknown forms of errors compiles, starts, and answers in these forms.
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import type { Product } from '@plant-store/engine'
import { call } from '../../../test/support/servers/start-product.ts'
import { run, startService } from '../../../test/support/processes/programs.ts'
import { copyProject } from '../../../test/support/project/copy.ts'
import { contract } from '../../../test/support/contracts/serve-contract.ts'

const node = (...words: string[]) => [process.execPath, ...words]

const response = (schema: string, type = 'application/json') =>
  `{ description: Failed, content: { ${type}: { schema: { $ref: '#/components/schemas/${schema}' } } } }`

/** A contract with the operations `getX` and `addX` at `/x/{n}`, and `getY` at `/y/{n}`. */
const contractWith = (errorsOfX: string, errorsOfY: string, schemas: string) => `paths:
  /x/{n}:
    parameters: [{ name: n, in: path, required: true, schema: { type: integer } }]
    get: { operationId: getX, responses: { '204': { description: Done }, ${errorsOfX} } }
    post:
      operationId: addX
      security: [{ key: [] }]
      requestBody: { content: { application/json: { schema: { type: object, additionalProperties: false } } } }
      responses: { '204': { description: Done }, ${errorsOfX} }
  /y/{n}:
    parameters: [{ name: n, in: path, required: true, schema: { type: integer } }]
    get: { operationId: getY, security: [{ key: [] }], responses: { '204': { description: Done }, ${errorsOfY} } }
components:
  securitySchemes: { key: { type: http, scheme: bearer } }
  schemas:
${schemas}`

/** Contracts, each with the `errorBody` printed by an earlier version. */
const CONTRACTS: Readonly<Record<string, { readonly yaml: string; readonly pasted: string }>> = {
  'a closed form with a time, an id, a path and a bound': {
    yaml: contractWith(
      `'404': ${response('Failure')}, default: ${response('Failure')}`,
      `4XX: ${response('Failure')}, 5XX: ${response('Failure')}`,
      `    Failure:
      type: object
      required: [timestamp, traceId, path, status, error, text]
      properties:
        timestamp: { type: string, format: date-time }
        traceId: { type: string, format: uuid }
        path: { type: string, pattern: '^/' }
        status: { type: integer, minimum: 400, maximum: 599 }
        error: { type: string, enum: [REFUSED, BROKEN] }
        text: { type: object, required: [message], properties: { message: { type: string, minLength: 1, maxLength: 60 } } }
      additionalProperties: false
`,
    ),
    pasted: `(status, message, { path, id }) => ({ timestamp: new Date().toISOString(), traceId: id, path, status, error: 'REFUSED', text: { message: message.slice(0, 60) } })`,
  },
  'forms by status and by operation, and RFC 9457': {
    yaml: contractWith(
      `'401': ${response('Coded')}, '404': ${response('Listed')}, default: ${response('Problem', 'application/problem+json')}`,
      `'404': ${response('Listed')}, default: ${response('Listed')}`,
      `    Coded: { type: object, required: [code, reason], properties: { code: { type: string, pattern: '^E[0-9]{3}$' }, reason: { type: string } }, additionalProperties: false }
    Listed: { type: object, required: [errors], properties: { errors: { type: array, minItems: 1, items: { type: string } } }, additionalProperties: false }
    Problem: { type: object, required: [type, title, status, operation], properties: { type: { type: string, format: uri }, title: { type: string }, status: { type: integer }, detail: { type: string }, operation: { type: string } }, additionalProperties: false }
`,
    ),
    pasted:
      "(status, message, { operationId }) => { if (['getX', 'addX'].includes(operationId) && status === 401) return { code: `E${status}`, reason: message }; if ((['getX', 'addX'].includes(operationId) && status === 404) || operationId === 'getY') return { errors: [message] }; return { type: 'about:blank', title: message, status, detail: message, operation: operationId } }",
  },
}

const productWith = (
  services: string,
  errorBody?: string,
) => `import { contract } from './contract.gen.ts'
import { defineProduct } from '@plant-store/engine'
import { openStore } from '@plant-store/store'
${services === '' ? '' : "import { Methods } from './methods.ts'\n"}
export const product = defineProduct({
  name: 'small',
  contract,
  store: openStore,
  services: () => [${services}],
  ${errorBody === undefined ? '' : `errorBody: ${errorBody},`}
})
`

const LONG = 'x'.repeat(600)

for (const [what, { yaml, pasted }] of Object.entries(CONTRACTS)) {
  t.test(`${what}: it compiles, starts and fits`, async (t) => {
    const folder = copyProject(t)
    const generate = (...words: string[]) => run(node('service/generate.ts', ...words), {}, folder)
    writeFileSync(`${folder}/openapi.yaml`, contract(yaml))
    const dry = await generate('--dry-run', 'openapi.yaml')
    t.match(dry.stdout, /^3 of 3 operations are served$/m)

    writeFileSync(`${folder}/service/product.ts`, productWith(''))
    t.match(await generate('--stubs', 'service/methods.ts'), { code: 0 })
    writeFileSync(`${folder}/service/product.ts`, productWith('new Methods()'))
    await compiles(t, folder)
    const port = await start(t, folder)
    await answers(t, folder, port)

    // An `errorBody` pasted from an earlier version still works: it takes precedence over the templates.
    writeFileSync(`${folder}/service/product.ts`, productWith('new Methods()', pasted))
    await answers(t, folder, await start(t, folder))
    t.match(await generate(), { code: 0, stderr: '' })
    await answers(t, folder, await start(t, folder))

    const unfit = '(_status, message) => ({ wrong: message })'
    writeFileSync(`${folder}/service/product.ts`, productWith('new Methods()', unfit))
    t.match(
      await run(node('service/main.ts'), { DATABASE_URL: `sqlite:${folder}/other.db` }, folder),
      {
        code: 1,
        stdout: /errorBody\(\d+, 'The reason'\) does not fit: .* It must fit { type: 'object'/,
      },
    )
  })
}

async function compiles(t: Test, folder: string): Promise<void> {
  const files = `{ "extends": "./tsconfig.json", "include": ["service/main.ts", "packages/compiler/*.d.ts"] }`
  writeFileSync(`${folder}/service.json`, files)
  const compiler = node('node_modules/typescript/bin/tsc', '-p', 'service.json')
  t.match(await run(compiler, {}, folder), { code: 0, stdout: '' })
}

/** Starts the service of a folder. @returns its port */
async function start(t: Test, folder: string): Promise<number> {
  const file = `${folder}/${randomUUID()}.db`
  const command = node(`${folder}/service/main.ts`)
  const { port } = await startService(t, { DATABASE_URL: `sqlite:${file}` }, command)
  return port
}

/** Checks each answer by its schema in the contract. */
async function answers(t: Test, folder: string, port: number): Promise<void> {
  // A unique URL, so that the module is imported again.
  const url = `${pathToFileURL(`${folder}/service/product.ts`).href}?${randomUUID()}`
  const { product } = (await import(url)) as { product: Product }
  const statusOf = async (method: string, path: string) =>
    (await call(port, { method, path }, product)).status
  t.equal(await statusOf('GET', '/x/a'), 400)
  t.equal(await statusOf('GET', `/x/${LONG}`), 400)
  t.equal(await statusOf('GET', '/x/%2e'), 404)
  t.equal(await statusOf('GET', '/x/1'), 501)
  t.equal(await statusOf('POST', '/x/1'), 401)
  t.equal(await statusOf('GET', '/y/1'), 401)
  t.equal(await statusOf('GET', '/y/%2e'), 404)
  t.equal(await statusOf('GET', '/unknown'), 404)
  t.equal(await statusOf('PUT', '/x/1'), 405)
}
