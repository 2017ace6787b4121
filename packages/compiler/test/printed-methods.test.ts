// Each printed method compiles, and answers: with the comments taken away from a class of stubs, a service is complete. With
// LONG=1 all constructs are asked, and not only those of responses.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { inspect } from '../../../test/support/inner/compiler.ts'
import { contractOf } from '../../../test/support/inner/documented.ts'
import { product as anyProduct } from '../../../test/support/product/product.ts'
import {
  askOnce,
  errorsOf,
  tokenFor,
  withMethods,
} from '../../../test/support/contracts/printed-methods.ts'
import { boot, contract, type Served } from '../../../test/support/contracts/serve-contract.ts'
import { writeGenerated } from '../src/commands/generate.ts'
import { missingMethods, writeClass } from '../src/commands/stubs.ts'
import { CONSTRUCTS, TABLE } from './constructs/all.ts'
import { RESPONSES } from './constructs/responses.ts'
import { SMALL_TEAMS } from './small-teams.ts'

/** A contract with its generated files, in a folder of its own. */
interface Written extends Served {
  readonly name: string
  readonly folder: string
  /** The printed status by operation; 0 for a method without an example. */
  readonly statuses: ReadonlyMap<string, number>
}

const served = TABLE.filter(([, how]) => how !== 'refused').flatMap(
  ([name]): [string, Served][] => {
    const construct = CONSTRUCTS[name]
    return construct === undefined || typeof construct === 'string' ? [] : [[name, construct]]
  },
)
const teams = Object.entries(SMALL_TEAMS).map(([name, yaml]): [string, Served] => [name, { yaml }])

/** The operations for which no example can be made. */
const LACKING = new Set(['plant'])

const root = t.testdir()
const written: Written[] = []
for (const [index, [name, { yaml, files, product }]] of [...teams, ...served].entries())
  written.push(
    await writeService(name, `${root}/${index}`, {
      yaml,
      ...(files && { files }),
      ...(product && { product }),
    }),
  )

async function writeService(name: string, folder: string, construct: Served): Promise<Written> {
  for (const [file, text] of Object.entries({
    ...construct.files,
    'openapi.yaml': contract(construct.yaml),
  })) {
    mkdirSync(`${folder}/${file}`.replace(/\/[^/]*$/, ''), { recursive: true })
    writeFileSync(`${folder}/${file}`, text)
  }
  const paths = { file: `${folder}/openapi.yaml`, target: `${folder}/contract.gen.ts` }
  const inspected = await inspect(paths.file, construct.product)
  writeFileSync(paths.target, writeGenerated(inspected, paths))
  const methods = missingMethods(inspected, [])
  const code = withMethods(writeClass({ name: 'Methods', code: '.', methods }))
  writeFileSync(`${folder}/methods.ts`, code)
  writeFileSync(
    `${folder}/complete.ts`,
    `import { defineProduct } from '@plant-store/engine'
import { contract } from './contract.gen.ts'
import { Methods } from './methods.ts'
defineProduct({ name: 'small', contract, services: () => [new Methods()] })
`,
  )
  const statuses = methods.map(({ id, method }) => {
    const [, status = '0'] = /status: (\d+)/.exec(method) ?? []
    return [id, Number(status)] as const
  })
  return { ...construct, name, folder, statuses: new Map(statuses) }
}

t.test('they compile, as one program', async (t) => {
  const files = written.map(({ folder }) => `${folder}/complete.ts`)
  const errors = errorsOf(files, readFileSync('tsconfig.json', 'utf8'))
  for (const { name, folder, statuses } of written) {
    const own = [...errors].filter(([file]) => file.startsWith(`${folder}/`))
    t.strictSame(
      own.flatMap(([, lines]) => lines),
      [],
      name,
    )
    t.ok(statuses.size > 0, name)
  }
})

const isLong = process.env['LONG'] !== undefined
const asked = new Set([
  ...Object.keys(SMALL_TEAMS),
  ...Object.keys(isLong ? CONSTRUCTS : RESPONSES),
])
for (const service of written.filter(({ name }) => asked.has(name)))
  t.test(`they answer: ${service.name.slice(0, 80)}`, (t) => answers(t, service))

async function answers(t: Test, { folder, statuses, ...construct }: Written): Promise<void> {
  const { Methods } = (await import(`${folder}/methods.ts`)) as { Methods: new () => object }
  const contract = { ...anyProduct.contract, file: pathToFileURL(`${folder}/openapi.yaml`).href }
  const { operations } = await contractOf({ ...anyProduct, ...construct.product, contract })
  const token = tokenFor(operations)
  const app = await boot(t, { ...construct, services: [new Methods()] })
  for (const operation of operations) {
    const isForGuardOnly = operation.isGuarded && operation.credentials === undefined
    if (isForGuardOnly) continue
    const id = app.contract.operations.find(
      ({ method, path }) => method === operation.method && path === operation.path,
    )?.id
    const { status, body } = await askOnce(app, operation, token)
    const printed = statuses.get(id ?? '')
    const expected = LACKING.has(operation.id) ? 501 : printed
    t.equal(status, expected, `${operation.id}: ${body}`)
  }
}
