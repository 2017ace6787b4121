// Writes a class with a stub for each missing method, for `npm run generate -- --stubs FILE`.
import { existsSync, writeFileSync } from 'node:fs'
import { basename, dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect, type Inspected } from '../compile.ts'
import { Examples } from '../operations/examples.ts'
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

/** A stub: its operation, and the code of a method to start from. */
interface Stub {
  readonly id: string
  readonly method: string
}

/** Writes a class. Each method is `notWritten`, below a comment with the code to start from. */
export function writeClass({ name, code, methods }: StubClass): string {
  const stubs = methods.map(({ id, method }) => {
    const comments = lineComments(method.replaceAll(/^ {2}/gm, ''))
    return [...comments.map((line) => `  ${line}`), `  readonly ${keyCode(id)} = notWritten`, '']
  })
  const types = methods.some(({ method }) => method.includes(': Request<'))
    ? 'Request, Result'
    : 'Result'
  return [
    `// import type { ${types} } from ${stringCode(`${code}/contract.gen.ts`)}`,
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
 * Writes a class with the methods that no service of a product has, to a new file.
 * @throws {Error} if the file exists, or no method is missing
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

/** The operations without a method in a service. */
export function missingMethods(
  { schemas, operations }: Inspected,
  services: readonly object[],
): Stub[] {
  const stubs: Stub[] = []
  const examples = new Examples(schemas)
  for (const operation of operations.values()) {
    const { id } = operation.normal
    const isWritten = services.some((service) => methodOf(service, id) !== undefined)
    if (!isWritten) stubs.push({ id, method: examples.of(operation).method })
  }
  return stubs
}

/**
 * The services of a product, to read the names of their methods. No store is opened: the constructors get a proxy for anything.
 */
async function servicesOf(product: Product): Promise<readonly object[]> {
  const collections = await openCollections(product, { collection: () => ANYTHING })
  return product.services(collections as Readonly<Record<string, unknown>>, ANYTHING)
}

/** A proxy for any value: it can be called, and each of its properties is the same proxy. */
const ANYTHING: never = new Proxy(anything, {
  get: (_, name): unknown => (name in OF_VALUES ? Reflect.get(OF_VALUES, name) : ANYTHING),
  apply: () => ANYTHING,
  construct: () => ANYTHING,
}) as never

function anything(): void {
  // A target for the proxy: it can be called, with or without `new`.
}

/** The properties that the language reads: the proxy is an empty string, an empty list, and no promise. */
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
