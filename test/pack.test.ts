// The tarballs of `npm run pack`: the tools of package authors find no error, and the bytes are the same each time.
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { fields } from './support/inner/json.ts'
import { run } from './support/processes/programs.ts'

const node = (...words: string[]) =>
  run(['env', '-u', 'NODE_OPTIONS', process.execPath, ...words], {})
const manifestOf = (folder: string) =>
  fields(JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')))
const digestOf = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')
const folder = t.testdir()
const packed = await node('packages/pack.ts', folder)
const tarballs = globSync(`${folder}/*.tgz`).sort()
const { version } = manifestOf('.')

t.test('there is a tarball of each package, with the one version', async (t) => {
  t.equal(packed.code, 0, packed.stderr)
  const names = globSync('packages/*/').map(
    (path) => `plant-store-${basename(path)}-${String(version)}.tgz`,
  )
  t.strictSame(
    tarballs.map((file) => basename(file)),
    names.sort(),
  )
  for (const path of globSync('packages/*/')) t.equal(manifestOf(path)['version'], version, path)
})

t.test('a package.json says what is exported, and where it comes from', async (t) => {
  const { engines, repository } = manifestOf('.')
  for (const file of tarballs) {
    const { stdout } = await run(['tar', '-xOzf', file, 'package/package.json'], {})
    const manifest = fields(JSON.parse(stdout))
    const name = String(manifest['name']).replace('@plant-store/', '')
    const source = manifestOf(`packages/${name}`)
    t.strictSame(manifest['engines'], engines, name)
    t.strictSame(
      manifest['repository'],
      { ...fields(repository), directory: `packages/${name}` },
      name,
    )
    const doors = fields(manifest['exports'])
    t.strictSame(Object.keys(doors), Object.keys(fields(source['exports'])), name)
    for (const door of Object.values(doors))
      t.strictSame(Object.keys(fields(door)), ['types', 'default'])
    const { sideEffects } = source
    const effects = Array.isArray(sideEffects)
      ? sideEffects.map((path) => String(path).replace('/src/', '/dist/').replace(/ts$/, 'js'))
      : sideEffects
    t.strictSame(manifest['sideEffects'], effects, name)
  }
})

t.test('publint and attw find nothing', async (t) => {
  const tools = [
    ['node_modules/publint/src/cli.js', '--strict'],
    ['node_modules/@arethetypeswrong/cli/dist/index.js', '--profile', 'esm-only'],
  ]
  for (const file of tarballs) {
    for (const [tool = '', ...words] of tools) {
      const { code, stdout, stderr } = await node(tool, ...words, file)
      t.equal(code, 0, `${basename(file)}: ${stdout}${stderr}`)
    }
  }
})

t.test(
  'a tarball has JavaScript, declarations, maps, README and license, and no tests',
  async (t) => {
    for (const file of tarballs) {
      const { stdout } = await run(['tar', '-tzf', file], {})
      const files = stdout.trim().split('\n')
      for (const name of [
        'LICENSE',
        'README.md',
        'package.json',
        'dist/index.js',
        'dist/index.js.map',
        'dist/index.d.ts',
      ])
        t.ok(files.includes(`package/${name}`), `${basename(file)}: ${name}`)
      const wrong = files.filter((name) =>
        /(?<!\.d)\.ts$|\.test\.|^package\/(src|test)\/|node_modules/.test(name),
      )
      t.strictSame(wrong, [], basename(file))
    }
  },
)

t.test('packed twice, it is the same bytes', async (t) => {
  const again = t.testdir()
  const { code, stderr } = await node('packages/pack.ts', again, 'json-schema')
  t.equal(code, 0, stderr)
  const [file = '', ...others] = globSync(`${again}/*.tgz`)
  t.strictSame(others, [])
  t.equal(digestOf(file), digestOf(join(folder, basename(file))))
})
