// A release: one command changes the version, the CHANGELOG has its text, and a workflow publishes the tested tarballs.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { fields } from './support/inner/json.ts'
import { run } from './support/processes/programs.ts'
import { copyProject, NPM } from './support/project/copy.ts'

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string>>
}
interface Job {
  readonly needs?: string | readonly string[]
  readonly permissions: unknown
  readonly steps: readonly Step[]
}
interface Workflow {
  readonly on: unknown
  readonly permissions: unknown
  readonly jobs: Readonly<Record<string, Job>>
}

const readJson = (file: string) => fields(JSON.parse(readFileSync(file, 'utf8')))

t.test('npm version changes the version wherever it stands', async (t) => {
  const folder = copyProject(t)
  const words = ['version', '--offline', '--no-git-tag-version', '9.8.7']
  const { code, stderr } = await run([...NPM, ...words], {}, folder)
  t.equal(code, 0, stderr)
  const manifests = globSync('{.,packages/*}/package.json', { cwd: folder })
  t.equal(manifests.length, 6)
  for (const file of manifests) t.equal(readJson(`${folder}/${file}`)['version'], '9.8.7', file)
  const locked = fields(readJson(`${folder}/package-lock.json`)['packages'])
  const ours = Object.entries(locked).filter(([path]) => !path.includes('node_modules/'))
  t.equal(ours.length, 6)
  for (const [path, entry] of ours) t.equal(fields(entry)['version'], '9.8.7', path)
  for (const file of ['Dockerfile', 'deploy/compose.yaml', 'deploy/kubernetes.yaml'])
    t.match(readFileSync(`${folder}/${file}`, 'utf8'), /(:|version=")9\.8\.7\b/, file)
  const listed = await run([...NPM, 'ls', '--package-lock-only'], {}, folder)
  t.equal(listed.code, 0, listed.stderr)
  writeFileSync(`${folder}/Dockerfile`, 'FROM scratch\n')
  const refused = await run([...NPM, ...words.with(-1, '9.8.8')], {}, folder)
  t.match(refused.stderr, 'Dockerfile has no version where it is expected')
})

t.test('the text of a release is the section of its version', async (t) => {
  const folder = t.testdir({
    packages: { 'release-notes.ts': readFileSync('packages/release-notes.ts', 'utf8') },
    'CHANGELOG.md':
      '# Changelog\n\n## 1.1.0 (unreleased)\n\n- New\n\n## 1.0.10 (2027-02-01)\n\n- Ten\n\n## 1.0.1 (2027-01-01)\n\n### Added\n\n- One\n',
  })
  const notes = (version: string) =>
    run(
      ['env', '-u', 'NODE_OPTIONS', process.execPath, 'packages/release-notes.ts', version],
      {},
      folder,
    )
  t.match(await notes('1.0.1'), { code: 0, stdout: '### Added\n\n- One\n', stderr: '' })
  t.match(await notes('1.0.10'), { code: 0, stdout: '- Ten\n', stderr: '' })
  t.match(await notes('1.1.0'), { code: 1, stdout: '', stderr: /1\.1\.0 is unreleased/ })
  t.match(await notes('1.0'), { code: 1, stdout: '', stderr: /no section "## 1\.0"/ })
  t.match(await notes(''), { code: 1, stdout: '', stderr: /no section/ })
})

const text = readFileSync('.github/workflows/release.yml', 'utf8')
const workflow: Workflow = parse(text)

t.test('a release comes from a tag, and each job has the permissions that it needs', async (t) => {
  t.strictSame(workflow.on, { push: { tags: ['v*'] } })
  t.strictSame(workflow.permissions, {})
  const permissions = Object.entries(workflow.jobs).map(([name, job]) => [name, job.permissions])
  t.strictSame(Object.fromEntries(permissions), {
    gate: { contents: 'read' },
    packages: { 'id-token': 'write' },
    image: { contents: 'read', packages: 'write', 'id-token': 'write', attestations: 'write' },
    page: { contents: 'write' },
  })
  t.notMatch(text, /secrets\b|NPM_TOKEN|NODE_AUTH_TOKEN/)
  t.strictSame(
    [...text.matchAll(/\$\{\{ (.*?) \}\}/g)].map(([, value]) => value),
    [
      'github.token',
      'steps.image.outputs.name',
      'steps.image.outputs.digest',
      'github.token',
      'github.repository',
    ],
    'no other text gets into a command',
  )
})

t.test('nothing is published before the gate, and what writes runs no dependency', async (t) => {
  const { gate, ...others } = workflow.jobs
  const commands = (gate?.steps ?? []).map(({ run = '' }) => run)
  for (const command of ['.ci/run', 'npm run pack']) t.ok(commands.includes(command), command)
  const needs = Object.entries(others).map(([name, job]) => [name, job.needs])
  t.strictSame(Object.fromEntries(needs), {
    packages: 'gate',
    image: 'gate',
    page: ['packages', 'image'],
  })
  for (const { run = '' } of Object.values(others).flatMap(({ steps }) => steps))
    t.notMatch(run, /npm (ci|install|run|exec)|npx|\bnode /)
  const checkouts = text.match(/checkout@.*\n.*/g) ?? []
  for (const checkout of checkouts) t.match(checkout, 'with: { persist-credentials: false }')
})

t.test('both workflows prepare the gate alike', async (t) => {
  const { jobs }: Workflow = parse(readFileSync('.github/workflows/ci.yml', 'utf8'))
  const released = JSON.stringify(workflow.jobs['gate'])
  for (const step of jobs['gate']?.steps ?? [])
    t.ok(released.includes(JSON.stringify(step)), JSON.stringify(step))
})

const ACTIONLINT = 'github.com/rhysd/actionlint'
const actionlint = linterFolder()
const skip =
  actionlint === '' ? `Go has not fetched ${ACTIONLINT}: .github/workflows/ci.yml runs it` : false

t.test('actionlint finds nothing in the workflows', { skip }, async (t) => {
  const files = globSync('.github/workflows/*.yml').map((file) => resolve(file))
  const lint = (...words: string[]) =>
    run(['go', '-C', actionlint, 'run', './cmd/actionlint', ...words], {
      HOME: homedir(),
      GOPROXY: 'off',
    })
  const { code, stdout, stderr } = await lint(...files)
  t.equal(code, 0, stdout + stderr)
  const wrong = `${t.testdir({ 'wrong.yml': text.replace('contents: read', 'content: read') })}/wrong.yml`
  t.match(await lint(wrong), { code: 1, stdout: /unknown permission scope "content"/ })
})

/** The folder of the linter of ci.yml, if Go has it already: a test asks no network. */
function linterFolder(): string {
  const ci = readFileSync('.github/workflows/ci.yml', 'utf8')
  const [, version = ''] = /actionlint@(v[\d.]+)/.exec(ci) ?? []
  const { status, stdout } = spawnSync('go', ['env', 'GOMODCACHE'], { encoding: 'utf8' })
  if (status !== 0) return ''
  const folder = `${stdout.trim()}/${ACTIONLINT}@${version}`
  return existsSync(`${folder}/go.mod`) ? folder : ''
}
