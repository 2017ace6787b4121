// `npm run pack [-- FOLDER [PACKAGE]]`: makes reproducible tarballs of the packages, by default in dist/, to install or to publish.
// They hold JavaScript, because Node strips no types below `node_modules`.
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { product } from '../service/product.ts'
import { FILES, gatherTemplates } from './compiler/src/commands/templates.ts'

/** In order of their dependencies: each is compiled against the declarations of earlier ones. */
const PACKAGES = ['json-schema', 'engine', 'store', 'compiler', 'testing'] as const
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const TSC = fileURLToPath(import.meta.resolve('typescript/bin/tsc'))
/** Fields copied from the package.json of the project. */
const SHARED = ['license', 'engines'] as const

type Ranges = Record<string, string>
interface Manifest {
  readonly name: string
  readonly version: string
  readonly exports: Ranges
  readonly repository?: Ranges
  readonly bin?: Ranges
  /** The modules with effects at import; false for none. */
  readonly sideEffects: false | readonly string[]
  readonly dependencies?: Ranges
  readonly peerDependencies?: Ranges
  readonly [field: string]: unknown
}

const project = manifestOf('.')
const [folder = join(ROOT, 'dist'), chosen] = process.argv.slice(2)
const target = resolve(folder)
const names = PACKAGES.filter((name) => chosen === undefined || chosen === name)
/** A folder for each process, because several may pack at once. In the project, so that imports find node_modules. */
const build = join(ROOT, `dist/build-${process.pid}`)
const tarballs = names.map((name) => join(target, `plant-store-${name}-${project.version}.tgz`))
if (!areCurrent()) packAll()
for (const file of tarballs) console.log(relative('.', file))

/** Whether the tarballs are newer than their sources. */
function areCurrent(): boolean {
  const sources = globSync(
    ['LICENSE', 'package.json', 'package-lock.json', ...FILES, 'packages/{*.ts,*/*.*,*/src/**}'],
    { cwd: ROOT },
  )
  const newest = Math.max(...sources.map((file) => statSync(join(ROOT, file)).mtimeMs))
  return tarballs.every(
    (file) => (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) > newest,
  )
}

function packAll(): void {
  mkdirSync(target, { recursive: true })
  try {
    for (const name of names) packOne(name)
    for (const file of tarballs) {
      // Renamed into place: a concurrent reader sees the old file or the new one.
      const copied = `${file}.${process.pid}`
      cpSync(join(build, basename(file)), copied)
      renameSync(copied, file)
    }
  } finally {
    rmSync(build, { recursive: true, force: true })
  }
}

function packOne(name: string): void {
  const staging = join(build, name)
  compile(name, staging)
  copyOthers(name, staging)
  if (name === 'compiler') writeTemplates(staging)
  writeJson(join(staging, 'package.json'), packedManifest(name))
  const words = ['pack', '--silent', '--ignore-scripts', '--pack-destination', build]
  execFileSync('npm', words, { cwd: staging })
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Manifest
}

/** Writes the JavaScript of a package, with its declarations and maps. */
function compile(name: string, folder: string): void {
  const source = join(folder, 'src') // copied, so that source maps name paths of the package
  cpSync(join(ROOT, 'packages', name, 'src'), source, { recursive: true })
  const settings = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      noCheck: true, // `npm run check` does
      rootDir: source,
      outDir: join(folder, 'dist'),
      declaration: true,
      sourceMap: true, // without sources: Node reads all maps at its start, and needs only lines
      rewriteRelativeImportExtensions: true,
      paths: declarationsOf(name),
      typeRoots: [join(ROOT, 'node_modules/@types')],
    },
    include: [`${source}/**/*.ts`],
    exclude: [],
  }
  const file = join(build, `${name}.json`)
  writeJson(file, settings)
  execFileSync(process.execPath, [TSC, '-p', file], { stdio: 'inherit' })
}

/** The declarations of earlier packages, by import specifier. */
function declarationsOf(name: string): Record<string, string[]> {
  const before = PACKAGES.slice(0, PACKAGES.indexOf(name as (typeof PACKAGES)[number]))
  const entries = before.flatMap((earlier) =>
    Object.entries(manifestOf(`packages/${earlier}`).exports).map(([path, file]) => {
      const declaration = join(
        build,
        earlier,
        file.replace('./src/', 'dist/').replace(/ts$/, 'd.ts'),
      )
      return [join('@plant-store', earlier, path), [declaration]] satisfies [string, string[]]
    }),
  )
  return Object.fromEntries(entries)
}

/** Copies the license, the README, and the data files of the code. */
function copyOthers(name: string, folder: string): void {
  cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  const from = join(ROOT, 'packages', name)
  for (const file of globSync(['*.md', 'src/**/*.{js,json,yaml}', 'src/**/*.d.ts'], {
    cwd: from,
  })) {
    const to = join(folder, file.replace(/^src\//, 'dist/'))
    mkdirSync(dirname(to), { recursive: true })
    cpSync(join(from, file), to)
  }
}

/** Writes the templates of new services. */
function writeTemplates(folder: string): void {
  const text = JSON.stringify(gatherTemplates(product))
  writeFileSync(join(folder, 'dist/commands/templates.json'), text)
}

/** The package.json of a tarball. */
function packedManifest(name: string): object {
  const {
    exports,
    bin,
    sideEffects,
    dependencies = {},
    peerDependencies = {},
    ...others
  } = manifestOf(`packages/${name}`)
  const shared = SHARED.map((field): [string, unknown] => [field, project[field]])
  const built = (file: string) => file.replace('./src/', './dist/').replace(/\.ts$/, '.js')
  const doors = Object.entries(exports).map(([path, file]) => [
    path,
    { types: built(file).replace(/js$/, 'd.ts'), default: built(file) },
  ])
  const commands = Object.entries(bin ?? {}).map(([command, file]) => [command, built(file)])
  return {
    ...others,
    ...Object.fromEntries<unknown>(shared),
    repository: { ...project.repository, directory: `packages/${name}` },
    files: ['dist', '*.md'],
    sideEffects: sideEffects && sideEffects.map(built),
    exports: Object.fromEntries(doors) as object,
    ...(bin === undefined ? {} : { bin: Object.fromEntries(commands) as object }),
    dependencies: withVersions(dependencies),
    peerDependencies: withVersions(peerDependencies),
  }
}

/** Replaces `*`: by the project's version for our packages, by the range in the project's package.json for others. */
function withVersions(ranges: Ranges): Ranges {
  const shared = { ...project.dependencies, ...(project['devDependencies'] as Ranges) }
  const rangeOf = (name: string, range: string) => {
    if (range !== '*') return range
    return name.startsWith('@plant-store/') ? project.version : (shared[name] ?? range)
  }
  return Object.fromEntries(
    Object.entries(ranges).map(([name, range]) => [name, rangeOf(name, range)]),
  )
}

function writeJson(file: string, value: unknown): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
}
