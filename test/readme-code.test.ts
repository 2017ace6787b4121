// The READMEs of the packages and the table of service/README.md: their code compiles, printing code is run, and their
// tables have each name of a door and each field of a product.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { startProduct } from '@plant-store/testing'
import { generateTypes } from './support/inner/compiler.ts'
import type { Product } from '@plant-store/engine'
import { CONTRACT, declarationOf, exportsOf, faultsOf } from './support/doors/example-programs.ts'
import { run } from './support/processes/programs.ts'

const PACKAGES = ['json-schema', 'engine', 'store', 'compiler', 'testing']
const COLLECTIONS = { notes: { schema: 'Note', key: 'int64' } } as const

/** The files of a product that a README may leave to its reader. */
const OTHER_FILES: Readonly<Record<string, string>> = {
  'service/note-service.ts': `import { type Collection, refusal } from '@plant-store/engine'
import type { components, Request, Result } from './contract.gen.ts'

export class NoteService {
  readonly #notes: Collection<components['schemas']['Note']>
  constructor(notes: Collection<components['schemas']['Note']>) {
    this.#notes = notes
  }
  async getNote({ caller, path: { id } }: Request<'getNote'>): Promise<Result<'getNote'>> {
    const note = await this.#notes.find(caller, id)
    return note === undefined ? refusal(404, 'No such note') : { status: 200, body: note }
  }
}
`,
  'service/product.ts': `import { defineProduct } from '@plant-store/engine'
import { openStore } from '@plant-store/store'
import { contract } from './contract.gen.ts'
import { NoteService } from './note-service.ts'

export const product = defineProduct({
  name: 'notes',
  contract,
  store: openStore,
  collections: { notes: { schema: 'Note', key: 'int64' } },
  services: ({ notes }) => [new NoteService(notes)],
})
`,
}

const READMES = PACKAGES.map((name) => ({
  name,
  readme: readFileSync(`packages/${name}/README.md`, 'utf8'),
}))

t.test('the code in the READMEs of the packages', async (t) => {
  const folder = t.testdir()
  const files = await Promise.all(
    READMES.map(({ name, readme }) => writeBlocks(join(folder, name), readme)),
  )
  t.ok(files.every((files) => files.length > 0))

  t.test('it compiles', (t) => {
    t.strictSame(faultsOf(files.flat(), folder), [])
    t.end()
  })

  t.test('it prints what it says', async (t) => {
    const printing = files
      .flat()
      .map((file) => [file, printedBy(readFileSync(file, 'utf8'))] as const)
    for (const [file, stdout] of printing.filter(([, printed]) => printed !== ''))
      t.match(await run([process.execPath, file], {}), { stdout, stderr: '', code: 0 })
  })

  t.test('what the README of engine serves answers', async (t) => {
    const file = join(folder, 'engine/service/product.ts')
    const { product } = (await import(file)) as { product: Product }
    const { call } = await startProduct(t, product)
    t.match(await call({ path: '/hello/moss' }), { status: 200, json: 'Hello, moss' })
  })
})

t.test('the README of each package has each name of its door', (t) => {
  for (const { name, readme } of READMES) {
    const [, door = ''] = /^## Its door$([^]*?)^## /m.exec(readme) ?? []
    const listed: string[] = door.match(/(?<=`)\w+/g) ?? []
    const names = exportsOf(`packages/${name}/src/index.ts`).symbols.map(({ name }) => name)
    t.strictSame(
      names.filter((exported) => !listed.includes(exported)),
      [],
      name,
    )
  }
  t.end()
})

t.test('the table of service/README.md has each field of a product', (t) => {
  const { checker, symbols } = exportsOf('packages/engine/src/index.ts')
  const symbol = symbols.find(({ name }) => name === 'defineProduct')
  const declared = symbol && declarationOf(checker, symbol)
  const [signature] = declared
    ? checker.getSignaturesOfType(checker.getTypeOfSymbol(declared), ts.SignatureKind.Call)
    : []
  const [parameter] = signature?.getParameters() ?? []
  const fields = parameter
    ? checker.getPropertiesOfType(checker.getTypeOfSymbol(parameter)).map(({ name }) => name)
    : []
  const text = readFileSync('service/README.md', 'utf8')
  const [, section = ''] = /^## What a product may say$([^]*?)^## /m.exec(text) ?? []
  const rows = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, field = '']) => field)
  t.strictSame(rows.sort(), fields.sort())
  t.end()
})

/** Writes a README's code blocks with imports of our packages, each under the name above it, beside a contract and a product. */
async function writeBlocks(folder: string, readme: string): Promise<string[]> {
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
    return join(folder, file)
  }
  const blocks = [
    ...readme.matchAll(/(?:`([\w./-]+\.(?:ts|yaml))`:\n\n)?^```(ts|yaml)\n([^]*?)^```$/gm),
  ].map(([, file = '', language = '', text = '']) => ({ file, language, text }))
  const contract = blocks.find(({ language }) => language === 'yaml')?.text
  write('openapi.yaml', contract ?? CONTRACT)
  for (const [file, text] of Object.entries(OTHER_FILES)) write(file, text)
  const files = blocks
    .filter(({ text }) => text.includes("from '@plant-store/"))
    .map(({ file, text }, index) => write(file || `service/block-${index}.ts`, text))
  const generated = join(folder, 'service/contract.gen.ts')
  const hooks = contract === undefined ? { collections: COLLECTIONS } : {}
  writeFileSync(generated, await generateTypes(join(folder, 'openapi.yaml'), generated, hooks))
  return files
}

/** The expected output: the comments behind calls of `console.log`. */
function printedBy(code: string): string {
  return [...code.matchAll(/^console\.log\(.*\) \/\/ (.*)$/gm)]
    .map(([, line = '']) => `${line}\n`)
    .join('')
}
