// Installs the packed packages as a service without a clone does: in a new folder.
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import type { Test } from 'tap'
import { fields } from '../../support/inner/json.ts'
import { run, start } from '../../support/processes/programs.ts'
import { NPM } from '../../support/project/copy.ts'

const HERE = import.meta.dirname
/** The programs of a service are the same everywhere. */
const PROGRAMS = ['main', 'dev', 'generate', 'lint', 'token', 'backup', 'copy']
/** The generated file before the first `npm run generate`. */
const NOT_GENERATED = `export const contract = { file: import.meta.resolve('../openapi.yaml'), generated: import.meta.filename }\n`
const CONTRACT_TEST = `import { testContract } from '@plant-store/testing'
import { product } from '../service/product.ts'

await testContract(product)
`

/** Node without tap's hooks. */
export const NODE = ['env', '-u', 'NODE_OPTIONS', process.execPath]

/** The words with which the service is started. */
const FLAGS = ['--enable-source-maps', '--disable-sigusr1']

/** A folder with a service. */
export interface Place {
  readonly folder: string
  /** The environment of its programs. */
  readonly environment: Readonly<Record<string, string>>
}

/** Packs the packages, if they have changed, and installs them in a new folder with the service. It is removed after the test. */
export async function installService(t: Test): Promise<Place> {
  const packed = await run([...NODE, 'packages/pack.ts'], {})
  if (packed.code !== 0) throw new Error(packed.stderr)
  const tarballs = packed.stdout.trim().split('\n')
  const place = makeFolder(t)
  writeSettings(place.folder, tarballs)
  const words = [
    'install',
    '--prefer-offline',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]
  const installed = await run([...NPM, ...words], ownEnvironment(), place.folder)
  if (installed.code !== 0) throw new Error(installed.stderr)
  const generated = await runNode(place, 'service/generate.ts')
  if (generated.code !== 0) throw new Error(generated.stderr)
  return place
}

/** A copy of the service, which a test may change. It has the packages of these names, or all. */
export function copyService(t: Test, { folder: from }: Place, packages = /./): Place {
  const place = makeFolder(t)
  const { folder } = place
  for (const file of ['package.json', 'tsconfig.json', 'service/contract.gen.ts'])
    copyFileSync(join(from, file), join(folder, file))
  mkdirSync(join(folder, 'node_modules/@plant-store'), { recursive: true })
  const names = globSync(['[!.@]*', '@*/*', '.bin'], { cwd: join(from, 'node_modules') })
  for (const name of names.filter((path) => packages.test(path))) {
    const [scope = ''] = name.split('/')
    if (name.startsWith('@')) mkdirSync(join(folder, 'node_modules', scope), { recursive: true })
    symlinkSync(join(from, 'node_modules', name), join(folder, 'node_modules', name))
  }
  return place
}

/** Runs a program of a service to its end. */
export function runNode({ folder, environment }: Place, ...words: string[]) {
  return run([...NODE, ...words], environment, folder)
}

/** Starts a program of a service. */
export function startNode(t: Test, { folder, environment }: Place, ...words: string[]) {
  return start(t, [...NODE, ...words], environment, { cwd: folder })
}

/** Starts the service on a free port, and waits until it listens. */
export async function serve(t: Test, { folder, environment }: Place, database?: string) {
  const data = database ?? `sqlite:${folder}/data/harbour.db`
  const settings = { ...environment, PORT: '0', NODE_ENV: 'production', DATABASE_URL: data }
  const command = [...NODE, ...FLAGS, 'service/main.ts']
  const service = await start(t, command, settings, { cwd: folder })
  const [, origin = ''] = await service.until(/listening at (http:[^"]*)\/v1"/)
  const token = await issue({ folder, environment: settings })
  return { ...service, origin, token, environment: settings }
}

/** Issues a token. */
export async function issue(place: Place): Promise<string> {
  const words = ['issue', 'ann', '--scope', 'harbour:use']
  const { stdout } = await runNode(place, 'service/token.ts', ...words)
  return stdout.trim()
}

/** The environment of who runs the tests: npm may need their registry, proxy or certificates. */
function ownEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).map(([name, value = '']): [string, string] => [
    name,
    value,
  ])
  // With the other one, npm would install in the repository.
  return Object.fromEntries(entries.filter(([name]) => name !== 'npm_config_local_prefix'))
}

/** Makes a folder outside of the repository with the code of the service. */
function makeFolder(t: Test): Place {
  const folder = mkdtempSync(join(tmpdir(), 'harbour-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  for (const name of ['service', 'test', 'data']) mkdirSync(join(folder, name))
  copyFileSync(join(HERE, 'openapi.yaml'), join(folder, 'openapi.yaml'))
  for (const name of ['product', 'harbour'])
    copyFileSync(join(HERE, `${name}.ts.txt`), join(folder, `service/${name}.ts`))
  for (const name of PROGRAMS)
    copyFileSync(`service/${name}.ts`, join(folder, `service/${name}.ts`))
  writeFileSync(join(folder, 'service/contract.gen.ts'), NOT_GENERATED)
  writeFileSync(join(folder, 'test/contract.test.ts'), CONTRACT_TEST)
  return { folder, environment: { NODE_COMPILE_CACHE: join(folder, '.cache') } }
}

/** Writes package.json and tsconfig.json: ours, with the tarballs in the place of the packages, and with a check of declarations. */
function writeSettings(folder: string, tarballs: readonly string[]): void {
  const read = (file: string) => fields(JSON.parse(readFileSync(file, 'utf8')))
  const { version, engines, dependencies, devDependencies } = read('package.json')
  const ranges = { ...fields(devDependencies), ...fields(dependencies) }
  const needed = ['@types/node', 'tap', 'typescript', ...Object.keys(fields(dependencies))]
  const own = tarballs.map((file): [string, string] => {
    const name = basename(file, `-${String(version)}.tgz`).replace('plant-store-', '@plant-store/')
    return [name, `file:${resolve(file)}`]
  })
  const others = needed.map((name) => [name, ranges[name]])
  const manifest = { name: 'harbour', version: '0.1.0', private: true, type: 'module', engines }
  const installed: unknown = Object.fromEntries([...others, ...own])
  write('package.json', { ...manifest, dependencies: installed })
  const compilerOptions = {
    ...fields(read('tsconfig.json')['compilerOptions']),
    skipLibCheck: false,
  }
  write('tsconfig.json', { compilerOptions, include: ['service', 'test'] })

  function write(file: string, value: object): void {
    writeFileSync(join(folder, file), JSON.stringify(value))
  }
}
