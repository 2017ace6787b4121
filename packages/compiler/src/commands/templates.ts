// Reads the templates of a new service: in a clone its own files; in a package one file beside this one, which
// `packages/pack.ts` writes, because npm packs no .npmrc and no .gitignore.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Product } from '@plant-store/engine'

/** The files of a clone for a new service, which get its names in place of the product's names. */
export const FILES = [
  '.dockerignore',
  '.github/dependabot.yml',
  '.github/workflows/ci.yml',
  '.gitignore',
  '.npmrc',
  'Dockerfile',
  'deploy/README.md',
  'deploy/alerts.yaml',
  'deploy/compose.yaml',
  'deploy/create-role.sql',
  'deploy/haproxy.cfg',
  'deploy/kubernetes.yaml',
  'deploy/nginx.conf',
  'redocly.yaml',
  'service/backup.ts',
  'service/copy.ts',
  'service/dev.ts',
  'service/generate.ts',
  'service/lint.ts',
  'service/main.ts',
  'service/runtime.sh',
  'service/token.ts',
  'test/contract.test.ts',
  'tsconfig.json',
] as const
type File = (typeof FILES)[number]

export type Ranges = Readonly<Record<string, string>>

/** The place of the command. */
export interface Source {
  /** The product of the clone; undefined if the compiler is installed. */
  readonly product: Product | undefined
  /** The folder in which the command was typed. */
  readonly caller: string
  readonly isFromRegistry: boolean
}

/** The package.json of a clone. */
export interface Project {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly engines: object
  readonly repository: { readonly url: string }
  readonly scripts: Ranges
  readonly dependencies: Ranges
  readonly optionalDependencies: Ranges
  readonly devDependencies: Ranges
  readonly prettier: object
}

export interface Templates {
  /** The names to replace. */
  readonly title: string
  readonly name: string
  readonly project: Project
  /** The packages of the lock file, without the clone's packages. */
  readonly lock: Readonly<Record<string, object>>
  readonly files: Readonly<Record<File, string>>
}

const PACKED = join(import.meta.dirname, 'templates.json')

/** Reads the packed templates, or else the files of the clone with this product. */
export function readTemplates(product: Product | undefined): Templates {
  if (existsSync(PACKED)) return JSON.parse(readFileSync(PACKED, 'utf8')) as Templates
  if (product === undefined) throw new Error('in a clone, run `npm run new`')
  return gatherTemplates(product)
}

/** The folder of the clone; undefined if the compiler is installed. */
export function cloneOf(product: Product | undefined): string | undefined {
  return product === undefined || existsSync(PACKED) ? undefined : rootOf(product)
}

/** Reads the files of a clone. */
export function gatherTemplates(product: Product): Templates {
  const read = (file: string) => readFileSync(join(rootOf(product), file), 'utf8')
  const texts = FILES.map((file): [File, string] => [file, read(file)])
  return {
    title: product.contract.title,
    name: product.name,
    project: JSON.parse(read('package.json')) as Project,
    lock: withoutOwn(JSON.parse(read('package-lock.json')) as Lock),
    files: Object.fromEntries(texts) as Record<File, string>,
  }
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly link?: boolean }>>
}

function withoutOwn({ packages }: Lock): Templates['lock'] {
  const isOwn = (path: string) => path === '' || path.startsWith('packages/')
  const others = Object.entries(packages).filter(
    ([path, { link = false }]) => !link && !isOwn(path),
  )
  return Object.fromEntries(others)
}

function rootOf({ contract }: Product): string {
  return dirname(fileURLToPath(contract.file))
}
