// Writes a class with a stub for each method that is missing, for `npm run generate -- --stubs FILE`.
import { existsSync, writeFileSync } from 'node:fs'
import { basename, dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect, type Inspected } from './compile.ts'
import { examplesOf } from './examples.ts'
import { openCollections, type Product } from '../engine/index.ts'

const NAME = /^[a-z_$][\w$]*$/i

/**
 * Writes a class. Each of its methods is `notWritten`, and above stands, as a comment, the method to begin with.
 * @param name of the class
 * @param code the path of the folder with `contract.gen.ts` and the engine, from the file of the class
 * @param isMissing whether an operation has no method yet, by its id
 */
export function writeStubs(
  { root, operations }: Inspected,
  name: string,
  code: string,
  isMissing: (id: string) => boolean = () => true,
): string {
  const missing = [...operations.values()].filter(({ normal }) => isMissing(normal.id))
  const stubs = missing.map(({ normal }) => {
    const lines = examplesOf(root, normal).method.split('\n')
    const key = NAME.test(normal.id) ? normal.id : `'${normal.id}'`
    return [...lines.map((line) => `  // ${line.slice(2)}`), `  readonly ${key} = notWritten`, '']
  })
  return [
    "// import type { Request, Result } from '" + code + "/contract.gen.ts'",
    `import { notWritten } from '${code}/engine/index.ts'`,
    '',
    '/** Operations that are answered 501. Write a method in the place of each `notWritten`. */',
    `export class ${name} {`,
    ...stubs.flat().slice(0, -1),
    '}',
    '',
  ].join('\n')
}

/**
 * Writes the class of the methods that no service of a product has, to a file that does not exist.
 * @throws {Error} if it exists, or nothing is missing
 */
export async function addStubs(product: Product, file: string): Promise<string[]> {
  if (existsSync(file)) throw new Error(`${file} exists: name a new file`)
  const { contract } = product
  const inspected = await inspect(fileURLToPath(contract.file), product)
  const services = await servicesOf(product)
  const isMissing = (id: string) => !services.some((service) => id in service)
  const missing = [...inspected.operations.values()].filter(({ normal }) => isMissing(normal.id))
  if (missing.length === 0) throw new Error('no operation lacks a method')
  const folder = relative(dirname(file), dirname(contract.generated))
  const code = folder.startsWith('.') ? folder : `./${folder}`.replace(/\/$/, '')
  const name = classNameOf(file)
  writeFileSync(file, writeStubs(inspected, name, code, isMissing))
  return [`${file} has the class ${name} with ${missing.length} methods: name it in product.ts`]
}

/** The services of a product, whose collections keep nothing: nobody calls a method. */
async function servicesOf(product: Product): Promise<readonly object[]> {
  const nothing = { collection: () => ({}) as never }
  const collections = await openCollections(product, nothing)
  return product.services(collections as Readonly<Record<string, unknown>>, {})
}

/** @example `service/book-service.ts` gives `BookService` */
export function classNameOf(file: string): string {
  const words = basename(file, '.ts').split(/[^A-Za-z0-9]+/)
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}
