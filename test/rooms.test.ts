// The architecture of service/: the product imports only the door of the engine, which is index.ts. In the engine each
// folder ("room") imports lower ones only.
import { globSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import t from 'tap'
import ts from 'typescript'

/** The rooms of the engine from the top down. A file imports files of its own room and of lower rooms only. */
const LAYERS = [
  ['index.ts'],
  ['programs'],
  ['app.ts'],
  ['auth', 'ops', 'define-product.ts'],
  ['store'],
  ['contract'],
  ['http'],
  ['config.ts'],
  ['errors.ts'],
]

const files = globSync('**/*.ts', { cwd: 'service' })
const sources = new Map(files.map((file) => [file, readFileSync(`service/${file}`, 'utf8')]))
const inEngine = (file: string) => file.startsWith('engine/')

/** The files that a file imports, types and dynamic imports included. */
function importsOf(path: string): string[] {
  const names = ts
    .preProcessFile(readFileSync(path, 'utf8'))
    .importedFiles.map(({ fileName }) => fileName)
  return names
    .filter((name) => name.startsWith('.'))
    .map((name) => relative('.', resolve(dirname(path), name)))
}

/** The files of service/ that each of its files imports. */
const imports = new Map(
  files.map((file) => [file, importsOf(`service/${file}`).map((path) => path.slice(8))]),
)

t.test('the engine has one door, and imports nothing of the product', async (t) => {
  for (const [file, targets] of imports) {
    for (const to of targets) {
      t.ok(
        inEngine(file) ? inEngine(to) : !inEngine(to) || to === 'engine/index.ts',
        `${file} imports ${to}`,
      )
    }
  }
  t.strictSame(filesWith(/plant/i).filter(inEngine), [], 'the engine does not name the product')
})

t.test('the tests of the engine know nothing of the product', async (t) => {
  for (const file of globSync('test/{engine,fuzz,support}/**/*.ts')) {
    if (file === 'test/support/statuses.ts') continue // it is run for the contract of the project
    const wrong = importsOf(file).filter(
      (to) => to.startsWith('service/') && !to.startsWith('service/engine/'),
    )
    t.strictSame(wrong, [], file)
  }
})

t.test('rooms import downwards only', async (t) => {
  for (const [file, targets] of imports) {
    for (const to of inEngine(file) ? targets : []) {
      const [from, below] = [roomOf(file), roomOf(to)]
      t.ok(
        from === below || layerOf(from) < layerOf(below),
        `${file} (${from}) imports ${to} (${below})`,
      )
    }
  }
})

t.test('there is no import cycle', async (t) => {
  // Files that import nothing of what is left are taken away. A cycle stays.
  const left = new Map(imports)
  const free = () => [...left].filter(([, targets]) => !targets.some((to) => left.has(to)))
  for (let some = free(); some.length > 0; some = free())
    for (const [file] of some) left.delete(file)
  t.strictSame([...left.keys()], [])
})

t.test('only config.ts reads the environment', async (t) => {
  t.strictSame(filesWith(/process\.env\b/), ['engine/config.ts'])
})

t.test('only store/sqlite and store/postgres contain SQL', async (t) => {
  const statement =
    /\b(?:SELECT\b[^;]*\bFROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM|CREATE TABLE|PRAGMA)\b/
  const found = filesWith(statement)
  t.ok(found.length > 0)
  for (const file of found) t.match(file, /^engine\/store\/(sqlite|postgres)\//)
})

t.test('only one file calls fastify-openapi-glue', async (t) => {
  t.strictSame(filesWith(/'fastify-openapi-glue'/), ['engine/contract/routes.ts'])
})

/** The room of a file of the engine: its folder, or a file at the top. */
function roomOf(file: string): string {
  return file.split('/')[1] ?? ''
}

function layerOf(room: string): number {
  const layer = LAYERS.findIndex((rooms) => rooms.includes(room))
  if (layer === -1) throw new Error(`service/engine/${room} is not a room of the design`)
  return layer
}

function filesWith(pattern: RegExp): string[] {
  return files.filter((file) => pattern.test(sources.get(file) ?? '')).sort()
}
