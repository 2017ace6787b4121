// Writes a class with a stub for each method that is missing, for `npm run generate -- --stubs FILE`.
import { existsSync, writeFileSync } from 'node:fs'
import { basename, dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect, type Inspected } from '../compile.ts'
import { examplesOf } from '../operations/examples.ts'
import { keyCode, lineComments, stringCode } from '../operations/printing.ts'
import { methodOf } from '@plant-store/engine/for-compiler'
import { openCollections, type Product } from '@plant-store/engine'

/** A class with the stubs of methods. */
export interface StubClass {
  readonly name: string
  /** The path of the folder with `contract.gen.ts`, from the file of the class. */
  readonly code: string
  readonly methods: readonly Stub[]
}

/** The place of a method that is not written, and the text of a method to begin with. */
interface Stub {
  readonly id: string
  readonly method: string
}

/** Writes a class. Each of its methods is `notWritten`, below a comment with the method to begin with. */
export function writeClass({ name, code, methods }: StubClass): string {
  const stubs = methods.map(({ id, method }) => {
    const comments = lineComments(method.replaceAll(/^ {2}/gm, ''))
    return [...comments.map((line) => `  ${line}`), `  readonly ${keyCode(id)} = notWritten`, '']
  })
  return [
    `// import type { Request, Result } from ${stringCode(`${code}/contract.gen.ts`)}`,
    "import { notWritten } from '@plant-store/engine'",
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
  const methods = missingMethods(inspected, await servicesOf(product))
  if (methods.length === 0) throw new Error('no operation lacks a method')
  const folder = relative(dirname(file), dirname(contract.generated))
  const code = folder.startsWith('.') ? folder : `./${folder}`.replace(/\/$/, '')
  const name = classNameOf(file)
  writeFileSync(file, writeClass({ name, code, methods }))
  return [`${file} has the class ${name} with ${methods.length} methods: name it in product.ts`]
}

/** The methods of operations that no service has. */
export function missingMethods(
  { root, operations }: Inspected,
  services: readonly object[],
): Stub[] {
  const stubs: Stub[] = []
  for (const { normal } of operations.values()) {
    const { id } = normal
    const isWritten = services.some((service) => methodOf(service, id) !== undefined)
    if (!isWritten) stubs.push({ id, method: examplesOf(root, normal).method })
  }
  return stubs
}

/**
 * The services of a product. Nobody calls a method, and nothing is opened: what their constructors get stands for anything.
 */
async function servicesOf(product: Product): Promise<readonly object[]> {
  const collections = await openCollections(product, { collection: () => ANYTHING })
  return product.services(collections as Readonly<Record<string, unknown>>, ANYTHING)
}

/** Can be called, and each member of it is the same. */
const ANYTHING: never = new Proxy(anything, {
  get: (_, name): unknown => (name in OF_VALUES ? Reflect.get(OF_VALUES, name) : ANYTHING),
  apply: () => ANYTHING,
  construct: () => ANYTHING,
}) as never

function anything(): void {
  // Only its kind is used: it can be called, also with `new`.
}

/** What the language itself asks a value for: it is an empty text, an empty list, and no promise. */
const OF_VALUES = {
  [Symbol.toPrimitive]: () => '',
  [Symbol.iterator]: () => [].values(),
  then: undefined,
}

/** The name of the class in a file. @example `service/book-service.ts` gives `BookService`, and `2fa.ts` gives `Service2fa` */
export function classNameOf(file: string): string {
  const words = basename(file, '.ts').split(/[^A-Za-z0-9]+/)
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  return /^[A-Z]/.test(name) ? name : `Service${name}`
}
