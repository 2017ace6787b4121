// The packages of a new service: package.json, the lock file, and the tarballs in vendor/.
import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Plan } from './new-plan.ts'
import { cloneOf, type Project, type Ranges, type Source, type Templates } from './templates.ts'
import { environmentWithout, reasonOf } from '@plant-store/engine/for-compiler'

const execute = promisify(execFile)
/** The packages of the running service, and the packages of its author. */
const RUNNING = ['engine', 'json-schema', 'store']
const WRITING = ['compiler', 'testing']
/** The author's other packages: peers of testing and compiler, and the tools of `npm run check`. */
const TOOLS = ['@types/node', 'prettier', 'tap', 'typescript']
const VENDOR = 'vendor'
/** Code and tests, without generated files. */
const CODE = "service test '!**/*.md' '!**/*.gen.ts'"

interface Place extends Source {
  /** The folder of the new service. */
  readonly folder: string
}

/**
 * Writes package.json and package-lock.json, and copies the tarballs.
 * @returns why there is no lock file, if there is none
 */
export async function addPackages(
  templates: Templates,
  plan: Plan,
  place: Place,
): Promise<string | undefined> {
  const { folder, isFromRegistry } = place
  const ranges = await rangesOf(templates.project, place)
  const manifest = manifestOf(templates.project, plan, ranges)
  const { name, version } = manifest
  const packages = { '': manifest, ...templates.lock }
  writeJson(join(folder, 'package.json'), manifest)
  // npm takes the tested versions from it, and leaves out unused packages.
  const lock = { name, version, lockfileVersion: 3, requires: true, packages }
  const lockFile = join(folder, 'package-lock.json')
  writeJson(lockFile, lock)
  try {
    // The cache usually has all packages of `npm ci`.
    await finishLock(folder, '--offline').catch(() => finishLock(folder, '--prefer-offline'))
    return undefined
  } catch (error) {
    if (!isFromRegistry) throw error
    rmSync(lockFile)
    return `npm has not found the packages: run \`npm install\` when they are in the registry (${firstLine(reasonOf(error))})`
  }
}

/** Lets npm complete the lock file, and remove unused packages. */
async function finishLock(folder: string, source: '--offline' | '--prefer-offline'): Promise<void> {
  const words = ['install', '--package-lock-only', '--ignore-scripts', source]
  const env = environmentWithout(/^npm_config_local_prefix$/) // the folder in which npm runs this command
  await execute('npm', words, { cwd: folder, env })
}

const firstLine = (text: string) => text.split('\n', 1)[0] ?? ''

/** The version or file of each of our packages, for package.json. */
async function rangesOf({ version }: Project, place: Place): Promise<Ranges> {
  const names = [...RUNNING, ...WRITING].map((name) => `@plant-store/${name}`)
  const tarballs = place.isFromRegistry ? undefined : await tarballsFor(version, names, place)
  if (tarballs === undefined) return Object.fromEntries(names.map((name) => [name, `^${version}`]))
  mkdirSync(join(place.folder, VENDOR))
  const entries = tarballs.map(([name, file]) => {
    const copied = `${VENDOR}/${basename(file)}`
    copyFileSync(file, join(place.folder, copied))
    return [name, `file:${copied}`] as const
  })
  return Object.fromEntries(entries)
}

type Tarballs = readonly (readonly [name: string, file: string])[]

/** The tarballs of our packages; undefined if there are none beside the command. */
async function tarballsFor(
  version: string,
  names: readonly string[],
  { product, caller }: Place,
): Promise<Tarballs | undefined> {
  const clone = cloneOf(product)
  if (clone === undefined) return tarballsOf(caller, names)
  await execute(process.execPath, ['packages/pack.ts'], { cwd: clone }) // a no-op if they are up to date
  return names.map((name) => {
    const file = `${name.replace('@', '').replace('/', '-')}-${version}.tgz`
    return [name, join(clone, 'dist', file)]
  })
}

/** The tarballs from which the service in a folder is installed. */
function tarballsOf(folder: string, names: readonly string[]): Tarballs | undefined {
  const file = join(folder, 'package.json')
  if (!existsSync(file)) return undefined
  const project = JSON.parse(readFileSync(file, 'utf8')) as Partial<Project>
  const ranges = { ...project.devDependencies, ...project.dependencies }
  const tarballs = names.flatMap((name) => {
    const [, path] = /^file:(.*\.tgz)$/.exec(ranges[name] ?? '') ?? []
    return path === undefined ? [] : [[name, resolve(folder, path)] as const]
  })
  return tarballs.length === names.length ? tarballs : undefined
}

/** The package.json of a new service. */
function manifestOf(project: Project, plan: Plan, ranges: Ranges) {
  const { engines, dependencies, optionalDependencies, devDependencies, prettier } = project
  const ours = (names: readonly string[]) =>
    pick(
      ranges,
      names.map((name) => `@plant-store/${name}`),
    )
  const peers = Object.keys(dependencies).filter((name) => !name.startsWith('@plant-store/'))
  return {
    name: plan.slug,
    version: '1.0.0',
    description: `${plan.title}: a contract-first HTTP service`,
    private: true,
    type: 'module',
    engines,
    scripts: scriptsOf(project),
    dependencies: sorted({ ...pick(dependencies, peers), ...ours(RUNNING) }),
    optionalDependencies,
    overrides: {
      tshy: { typescript: '$typescript' },
      '@tapjs/test': { typescript: '$typescript' },
    },
    devDependencies: sorted({ ...ours(WRITING), ...pick(devDependencies, TOOLS) }),
    prettier,
  }
}

/** The scripts of a new service: the clone's scripts for one service. */
function scriptsOf({ scripts }: Project): Ranges {
  const node = '. service/runtime.sh && '
  // A stack trace then shows the lines of TypeScript.
  const withMaps = (script = '') => script.replace(/exec node /, '$&--enable-source-maps ')
  return {
    start: withMaps(scripts['start']),
    dev: withMaps(scripts['dev']),
    test: `${node}test-service`,
    'test:file': `${node}test-service`,
    check: `${node}node service/lint.ts openapi.yaml && npm run generate -- --check && tsc && prettier --check ${CODE}`,
    format: `${node}prettier --write ${CODE}`,
    ...pick(scripts, ['generate', 'token', 'backup', 'copy']),
    sbom: 'npm sbom --omit dev --omit optional --package-lock-only --sbom-format spdx',
  }
}

function pick(ranges: Ranges, names: readonly string[]): Ranges {
  return Object.fromEntries(names.map((name) => [name, ranges[name] ?? '*']))
}

function sorted(ranges: Ranges): Ranges {
  return Object.fromEntries(Object.entries(ranges).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function writeJson(file: string, value: unknown): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
}
