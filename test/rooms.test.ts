// The architecture of service/: three houses, each with one door. The engine answers requests, the compiler runs on a
// developer's machine, the store keeps items. In the engine each folder ("room") imports lower ones only.
import { globSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import t from 'tap'
import ts from 'typescript'

/** The rooms of the engine from the top down. A file imports files of its own room and of lower rooms only. */
const LAYERS = [
  ['index.ts'],
  ['programs'],
  ['app.ts', 'for-compiler.ts'],
  ['auth', 'ops', 'define-product.ts'],
  ['contract'],
  ['store.ts'],
  ['json-schema', 'http'],
  ['config.ts'],
  ['errors.ts'],
]

/** What a house may import of the others, besides their doors. */
const WALLS: Readonly<Record<string, RegExp>> = {
  engine: /^engine\//,
  compiler: /^(compiler\/|engine\/(json-schema\/|contract\/compiled\.ts|for-compiler\.ts))/,
  store: /^(store\/|engine\/(store\.ts|http\/json\.ts|errors\.ts))/,
}
const DOOR = /^(engine|compiler|store)\/index\.ts$/
const files = globSync('**/*.ts', { cwd: 'service' })
const sources = new Map(files.map((file) => [file, readFileSync(`service/${file}`, 'utf8')]))
const houseOf = (file: string) => Object.keys(WALLS).find((house) => file.startsWith(`${house}/`))

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

t.test('from outside of a house, only its door is imported', async (t) => {
  for (const [file, targets] of imports) {
    const house = houseOf(file)
    for (const to of targets) {
      const isInside = house !== undefined && WALLS[house]?.test(to) === true
      const isAllowed = houseOf(to) === undefined ? house === undefined : isInside || DOOR.test(to)
      t.ok(isAllowed, `${file} imports ${to}`)
    }
  }
})

t.test(
  'the engine imports neither of the other houses, and no house names the product',
  async (t) => {
    for (const [file, targets] of imports) {
      if (houseOf(file) !== 'engine') continue
      const others = targets.filter((to) => houseOf(to) !== 'engine')
      t.strictSame(others, [], file)
    }
    t.strictSame(filesWith(/plant/i).filter(houseOf), [])
  },
)

t.test('the tests of the houses know nothing of the product', async (t) => {
  for (const file of globSync('test/{engine,compiler,store,fuzz,support}/**/*.ts')) {
    if (file === 'test/support/statuses.ts') continue // it is run for the contract of the project
    const wrong = importsOf(file).filter(
      (to) => to.startsWith('service/') && houseOf(to.slice(8)) === undefined,
    )
    t.strictSame(wrong, [], file)
  }
})

t.test('rooms of the engine import downwards only', async (t) => {
  for (const [file, targets] of imports) {
    for (const to of targets) {
      if (houseOf(file) !== 'engine' || houseOf(to) !== 'engine') continue
      const [from, below] = [roomOf(file), roomOf(to)]
      const isDown = from === below || layerOf(from) < layerOf(below)
      t.ok(isDown, `${file} (${from}) imports ${to} (${below})`)
    }
  }
})

t.test('there is no import cycle', async (t) => {
  // Files that import nothing of what is left are taken away. A cycle stays.
  const left = new Map(imports)
  const free = () => [...left].filter(([, targets]) => !targets.some((to) => left.has(to)))
  for (let leaves = free(); leaves.length > 0; leaves = free())
    for (const [file] of leaves) left.delete(file)
  t.strictSame([...left.keys()], [])
})

t.test('only config.ts reads the environment, and no file of the product', async (t) => {
  const reads = /\bprocess\.env\b|\bprocess\[|= process$|'(node:)?process'/m
  t.strictSame(filesWith(reads), ['engine/config.ts'])
  for (const file of globSync('test/support/product/*.ts'))
    t.notMatch(readFileSync(file, 'utf8'), reads, file)
})

t.test('of the houses, only store/sqlite and store/postgres contain SQL', async (t) => {
  const statement =
    /\b(?:SELECT\b[^;]*\bFROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM|CREATE TABLE|PRAGMA)\b/
  const withSql = filesWith(statement).filter(houseOf) // a product may have a database of its own
  t.ok(withSql.length > 0)
  for (const file of withSql) t.match(file, /^store\/(sqlite|postgres)\//)
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
  if (layer === -1) throw new Error(`packages/engine/${room} is not a room of the design`)
  return layer
}

function filesWith(pattern: RegExp): string[] {
  return files.filter((file) => pattern.test(sources.get(file) ?? '')).sort()
}
