// Schemas with `x-internal: true`: stored, but left out of the served document, and not unused for the linter.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { loadCompiler } from '../src/index.ts'
import { generateTypes } from '../../../test/support/inner/compiler.ts'
import { readContract } from '../../../test/support/inner/contract.ts'
import { fields } from '../../../test/support/inner/json.ts'
import { contract } from '../../../test/support/contracts/serve-contract.ts'

const PATHS = `servers: [{ url: '{base_url}', variables: { base_url: { default: . } } }]
paths:
  /x:
    get:
      operationId: run
      responses: { '200': { description: Done, content: { application/json: { schema: { $ref: '#/components/schemas/Shown' } } } } }
`
/** The kept schemas are of all kinds: one that refers to another, and one of another file. */
const SCHEMAS = `components:
  schemas:
    # for the store only
    Kept:
      x-internal: true
      type: object
      properties:
        part: { $ref: '#/components/schemas/Part' }
        shown: { $ref: '#/components/schemas/Shown' }
        self: { $ref: '#/components/schemas/Kept' }
    Part: { x-internal: true, type: integer, format: int64 }
    Shown: { type: integer, format: int64, maximum: 9007199254740993 }
    Open: { x-internal: false, type: string }
`
const collections = { kept: { schema: 'Kept', key: 'int64' } } as const

type Files = Readonly<Record<string, string>>

async function serve(t: Test, yaml: string, files: Files = {}) {
  const folder = t.testdir({ 'openapi.yaml': contract(yaml), ...files })
  const file = `${folder}/openapi.yaml`
  const product = { collections }
  const { bytes, items } = await readContract(file, {
    loadCompiler,
    product,
    baseUrl: 'https://a.example',
  })
  const types = await generateTypes(file, `${folder}/contract.gen.ts`, product)
  const text = String(bytes)
  const document = fields(parse(text, { intAsBigInt: true }))
  return {
    text,
    items,
    types,
    document,
    schemas: fields(fields(document['components'])['schemas']),
  }
}

t.test('an internal schema is stored, and is not in the served document', async (t) => {
  const { text, items, types, document, schemas } = await serve(t, PATHS + SCHEMAS)
  t.strictSame(Object.keys(schemas), ['Shown', 'Open'])
  t.notMatch(text, /Kept|Part|for the store/)
  t.strictSame(fields(schemas['Shown'])['maximum'], 9007199254740993n)
  t.strictSame(Object.keys(items), ['Kept'])
  t.match(types, /Kept: \{/)
  t.match(types, /published: /)
  t.match(JSON.stringify(document['servers']), 'https://a.example', 'with BASE_URL')
})

t.test('so it is in a contract of several files', async (t) => {
  const yaml = `${PATHS}components: { schemas: { Kept: { $ref: kept.yaml }, Shown: { type: string } } }\n`
  const files = {
    'kept.yaml': '{ x-internal: true, type: object, properties: { a: { type: string } } }',
  }
  const { schemas, items } = await serve(t, yaml, files)
  t.strictSame([Object.keys(schemas), Object.keys(items)], [['Shown'], ['Kept']])
})

t.test('a schema that is published can not be internal', async (t) => {
  const refer = (schemas: string) => serve(t, `${PATHS}components:\n  schemas:\n${schemas}`)
  await t.rejects(
    refer(`    Shown: { type: object, properties: { a: { $ref: '#/components/schemas/Kept' } } }
    Kept: { x-internal: true, type: string }
`),
    /openapi.yaml:11: Kept is internal, and what refers to it is published/,
  )
  await t.rejects(refer('    Shown: { x-internal: true, type: string }\n'), /:8: Shown is internal/)
  const unused = "    Other: { items: { $ref: '#/components/schemas/Kept' } }\n"
  const { schemas } = await refer(`    Shown: {}\n${unused}    Kept: { x-internal: true }\n`)
  t.strictSame(Object.keys(schemas), ['Shown', 'Other', 'Kept'], 'no published reference is broken')
})

t.test('the linter does not call an internal schema unused', async (t) => {
  const rules = `${process.cwd()}/packages/compiler/src/read/refusals.yaml`
  const folder = t.testdir({
    'openapi.yaml': contract(`${PATHS}${SCHEMAS}    Unused: { type: string }\n`),
    'redocly.yaml': `extends: [minimal, ${rules}]\nrules: { no-unused-components: error }\n`,
  })
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [
      'node_modules/@redocly/cli/bin/cli.js',
      'lint',
      `${folder}/openapi.yaml`,
      `--config=${folder}/redocly.yaml`,
      '--format=json',
    ],
    { encoding: 'utf8' },
  )
  const named = stdout.match(/(?<=Component: \\")\w+/g)
  t.strictSame(named, ['Open', 'Unused'], stderr)
  t.match(readFileSync(`${folder}/openapi.yaml`, 'utf8'), 'x-internal')
})
