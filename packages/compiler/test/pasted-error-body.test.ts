// What the dry run prints is pasted into product.ts as it is: the product compiles, starts, and answers in the contract's forms.
import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import t from 'tap'
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

const CONTRACTS: Readonly<Record<string, string>> = {
  'a closed form with a time, an id, a path and a bound': contractWith(
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
  'forms by status and by operation, and RFC 9457': contractWith(
    `'401': ${response('Coded')}, '404': ${response('Listed')}, default: ${response('Problem', 'application/problem+json')}`,
    `'404': ${response('Listed')}, default: ${response('Listed')}`,
    `    Coded: { type: object, required: [code, reason], properties: { code: { type: string, pattern: '^E[0-9]{3}$' }, reason: { type: string } }, additionalProperties: false }
    Listed: { type: object, required: [errors], properties: { errors: { type: array, minItems: 1, items: { type: string } } }, additionalProperties: false }
    Problem: { type: object, required: [type, title, status, operation], properties: { type: { type: string, format: uri }, title: { type: string }, status: { type: integer }, detail: { type: string }, operation: { type: string } }, additionalProperties: false }
`,
  ),
}

const productWith = (
  errorBody: string,
  services: string,
) => `import { contract } from './contract.gen.ts'
import { defineProduct } from '@plant-store/engine'
import { openStore } from '@plant-store/store'
${services === '' ? '' : "import { Methods } from './methods.ts'\n"}
export const product = defineProduct({
  name: 'small',
  contract,
  store: openStore,
  services: () => [${services}],
  errorBody: ${errorBody},
})
`

const LONG = 'x'.repeat(600)

for (const [what, yaml] of Object.entries(CONTRACTS)) {
  t.test(`${what}: as it is pasted it compiles, starts and fits`, async (t) => {
    const folder = copyProject(t)
    const generate = (...words: string[]) => run(node('service/generate.ts', ...words), {}, folder)
    writeFileSync(`${folder}/openapi.yaml`, contract(yaml))
    const dry = await generate('--dry-run', 'openapi.yaml')
    t.match(dry.stdout, /^3 of 3 operations are served$/m)
    const [, errorBody = ''] =
      /product\.ts errorBody: (.*),(?: \(\d+ times\))?$/m.exec(dry.stdout) ?? []

    writeFileSync(`${folder}/service/product.ts`, productWith(errorBody, ''))
    t.match(await generate('--stubs', 'service/methods.ts'), { code: 0 })
    writeFileSync(`${folder}/service/product.ts`, productWith(errorBody, 'new Methods()'))
    const files = `{ "extends": "./tsconfig.json", "include": ["service/main.ts", "packages/compiler/*.d.ts"] }`
    writeFileSync(`${folder}/service.json`, files)
    const checked = await run(
      node('node_modules/typescript/bin/tsc', '-p', 'service.json'),
      {},
      folder,
    )
    t.match(checked, { code: 0, stdout: '' }, errorBody)

    const environment = { DATABASE_URL: `sqlite:${folder}/small.db` }
    const { port } = await startService(t, environment, node(`${folder}/service/main.ts`))
    const module: unknown = await import(pathToFileURL(`${folder}/service/product.ts`).href)
    const { product } = module as { product: Product }
    // Each answer is checked by its schema in the contract.
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

    const unfit = '(_status, message) => ({ wrong: message })'
    writeFileSync(`${folder}/service/product.ts`, productWith(unfit, 'new Methods()'))
    t.match(
      await run(node('service/main.ts'), { DATABASE_URL: `sqlite:${folder}/other.db` }, folder),
      {
        code: 1,
        stdout: /errorBody\(\d+, 'The reason'\) does not fit: .* It must fit { type: 'object'/,
      },
    )
  })
}
