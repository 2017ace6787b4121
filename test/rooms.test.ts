// The architecture: a product in service/, and its packages. A package is imported by its name, through
// its door. In a package each room, a folder or a file of src/, imports lower rooms only.
import { globSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import t from 'tap'
import ts from 'typescript'

/** The rooms of each package from the top down. A file imports files of its own room and of lower rooms only. */
const LAYERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'json-schema': [
    ['index.ts'],
    ['validator.ts'],
    ['annotations.ts', 'defaults.ts'],
    ['schema-compiler.ts'],
    ['boolean-schema.ts', 'memoize.ts', 'plain.ts', 'untyped.ts'],
    ['keywords'],
    ['core'],
  ],
  engine: [
    ['index.ts', 'for-commands.ts', 'for-testing.ts'],
    ['programs'],
    ['app.ts', 'for-compiler.ts', 'for-store.ts'],
    ['auth', 'docs', 'ops', 'define-product.ts'],
    ['operation'],
    ['contract'],
    ['change.ts'],
    ['store.ts'],
    ['written.ts'],
    ['http'],
    ['config.ts'],
    ['errors.ts', 'index-types.ts'],
  ],
  store: [
    ['index.ts'],
    ['backup.ts', 'copy.ts', 'test-store.ts'],
    ['open.ts'],
    ['sqlite', 'postgres'],
    ['core'],
  ],
  compiler: [
    ['bin.ts'],
    ['index.ts', 'for-testing.ts'],
    ['commands'],
    ['compile.ts'],
    ['types'],
    ['operations'],
    ['schemas'],
    ['read', 'samples'],
    ['sentences'],
  ],
  testing: [
    ['bin.ts'],
    ['index.ts'],
    ['run', 'tests'],
    ['service'],
    ['answers', 'requests'],
    ['contract'],
    ['schemas'],
    ['http', 'document'],
    ['json'],
  ],
}
/** The allowed imports of a package: other packages of ours. */
const WALLS: Readonly<Record<string, RegExp>> = {
  'json-schema': /^$/,
  engine: /^json-schema$/,
  store: /^(engine|json-schema)$/,
  compiler: /^(engine|json-schema)$/,
  testing: /^(compiler|engine|json-schema|store)$/,
}

const FOLDERS = globSync('packages/*/package.json').map(dirname)
const files = globSync(['service/*.ts', 'packages/*/src/**/*.ts'])
const sources = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]))
const packageOf = (file: string) => /^packages\/([^/]+)\//.exec(file)?.[1]
/** The path of a file in the source of its package. */
const pathOf = (file: string) => file.replace(/^packages\/[^/]+\/src\//, '')

/** The imports of a file, types and dynamic imports included: a path for a relative name. */
function importsOf(file: string): string[] {
  const names = ts
    .preProcessFile(readFileSync(file, 'utf8'))
    .importedFiles.map(({ fileName }) => fileName)
  return names.map((name) =>
    name.startsWith('.') ? relative('.', resolve(dirname(file), name)) : name,
  )
}

const imports = new Map(files.map((file) => [file, importsOf(file)]))
/** Our package in an import. */
const namedPackage = (name: string) => /^@plant-store\/([^/]+)/.exec(name)?.[1]

t.test('a package is imported by its name, and only by those that stand above it', async (t) => {
  for (const [file, targets] of imports) {
    const own = packageOf(file)
    const inside = targets.filter((to) => packageOf(to) !== own)
    t.strictSame(inside.filter(packageOf), [], `${file} imports no file of another package`)
    for (const name of targets.map(namedPackage)) {
      if (own === undefined || name === undefined) continue
      t.match(name, WALLS[own], `${file} imports ${name}`)
    }
  }
})

t.test('a product imports doors only', async (t) => {
  const door = /^@plant-store\/[^/]+$/
  for (const [file, targets] of imports) {
    if (packageOf(file) !== undefined) continue
    for (const name of targets.filter(namedPackage)) t.match(name, door, file)
  }
})

t.test('no package names the product, nor do its tests', async (t) => {
  const product = /plant(?!-store\/)/i
  t.strictSame(filesWith(product).filter(packageOf), [])
  const tests = globSync(['packages/*/test/**/*.ts', 'test/{fuzz,support}/**/*.ts'])
  for (const file of tests) {
    const wrong = importsOf(file).filter((to) => to.startsWith('service/'))
    t.strictSame(wrong, [], file)
  }
})

t.test('rooms import downwards only', async (t) => {
  for (const [file, targets] of imports) {
    const own = packageOf(file)
    if (own === undefined) continue
    for (const to of targets.filter((target) => packageOf(target) === own)) {
      const [from, below] = [roomOf(file), roomOf(to)]
      const isDown = from === below || layerOf(own, from) < layerOf(own, below)
      t.ok(isDown, `${file} (${from}) imports ${to} (${below})`)
    }
  }
})

t.test('no folder in a room imports its parent', async (t) => {
  for (const [file, targets] of imports) {
    const folder = dirname(file)
    if (packageOf(file) === undefined || !pathOf(folder).includes('/')) continue
    const parents = targets.filter((to) => folder.startsWith(`${dirname(to)}/`) && isInRoom(to))
    t.strictSame(parents, [], file)
  }
})

t.test('there is no import cycle', async (t) => {
  // Files without an import of another remaining file are taken away, again and again. A cycle remains.
  const left = new Map(imports)
  const free = () => [...left].filter(([, targets]) => !targets.some((to) => left.has(to)))
  for (let leaves = free(); leaves.length > 0; leaves = free())
    for (const [file] of leaves) left.delete(file)
  t.strictSame([...left.keys()], [])
})

t.test('only config.ts reads the environment, and no file of the product', async (t) => {
  const reads = /\bprocess\.env\b|\bprocess\[|= process$|'(node:)?process'/m
  const isOfService = (file: string) => packageOf(file) !== 'testing'
  t.strictSame(filesWith(reads).filter(isOfService), ['packages/engine/src/config.ts'])
  for (const file of globSync('test/support/product/*.ts'))
    t.notMatch(readFileSync(file, 'utf8'), reads, file)
})

t.test('of the packages, only store/src/sqlite and store/src/postgres contain SQL', async (t) => {
  const statement =
    /\b(?:SELECT\b[^;]*\bFROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM|CREATE TABLE|PRAGMA)\b/
  const withSql = filesWith(statement).filter(packageOf) // a product may have a database of its own
  t.ok(withSql.length > 0)
  for (const file of withSql) t.match(file, /^packages\/store\/src\/(sqlite|postgres)\//)
})

t.test('only one file calls fastify-openapi-glue', async (t) => {
  const callers = filesWith(/'fastify-openapi-glue'/)
  t.strictSame(callers, ['packages/engine/src/operation/routes.ts'])
})

interface Manifest {
  readonly sideEffects?: false | readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}
const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))

/** The packages in imports and in `import.meta.resolve`, without the modules of Node. */
function namedPackages(file: string): string[] {
  const text = readFileSync(file, 'utf8').replaceAll(/^ *(\/\/|\*|\/\*\*).*$/gm, '')
  const resolved = [...text.matchAll(/\b(?:resolve|require)\('([^'.][^']*)'\)/g)].map(
    ([, name = '']) => name,
  )
  const names = [...importsOf(file).filter((name) => !name.includes('.ts')), ...resolved]
  return names
    .filter((name) => !name.startsWith('node:') && !name.startsWith('packages/'))
    .map((name) => /^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? '')
}

t.test('a package.json names what the code imports, no more and no less', async (t) => {
  for (const folder of FOLDERS) {
    const { dependencies = {}, peerDependencies = {} } = manifestOf(folder)
    const named = files.filter((file) => file.startsWith(`${folder}/`)).flatMap(namedPackages)
    const declared = [...Object.keys(dependencies), ...Object.keys(peerDependencies)]
    t.strictSame(declared.sort(), [...new Set(named)].sort(), folder)
  }
})

t.test('a version is written once, or is the same wherever it stands', async (t) => {
  const folders = ['.', ...FOLDERS]
  const ranges = new Map<string, Set<string>>()
  for (const folder of folders) {
    const { dependencies, peerDependencies, devDependencies } = manifestOf(folder)
    const written = Object.entries({ ...devDependencies, ...peerDependencies, ...dependencies })
    for (const [name, range] of written.filter(([, text]) => text !== '*'))
      ranges.set(name, (ranges.get(name) ?? new Set()).add(range))
  }
  for (const [name, texts] of ranges) t.equal(texts.size, 1, `${name}: ${[...texts].join(' ')}`)
})

t.test('sideEffects names each module that changes something outside of it', async (t) => {
  for (const folder of FOLDERS) {
    const own = files.filter((file) => file.startsWith(`${folder}/`) && hasEffect(file))
    const { sideEffects = [] } = manifestOf(folder)
    const named = own.map((file) => `./${relative(folder, file)}`).sort()
    t.strictSame(sideEffects, named.length === 0 ? false : named, folder)
  }
})

/** Whether the import of a module has an effect outside of the module. */
function hasEffect(file: string): boolean {
  const source = ts.createSourceFile(file, sources.get(file) ?? '', ts.ScriptTarget.Latest, true)
  const own = new Set(source.statements.filter(ts.isVariableStatement).flatMap(declaredNames))
  const isEffect = (node: ts.Node): boolean => {
    if (ts.isFunctionLike(node) || ts.isClassLike(node)) return false
    if (ts.isExpressionStatement(node)) return !own.has(rootOf(node.expression))
    return ts.forEachChild(node, (child) => isEffect(child) || undefined) ?? false
  }
  return isEffect(source)
}

function declaredNames({ declarationList }: ts.VariableStatement): string[] {
  return declarationList.declarations.map(({ name }) => name.getText())
}

/** The first name of an expression: `a` of `await a.b()` and of `a.b = c`. */
function rootOf(expression: ts.Expression): string {
  return /^(?:await )?(\w+)/.exec(expression.getText())?.[1] ?? ''
}

/** The room of a file: its folder in `src/`, or the file itself at the top. */
function roomOf(file: string): string {
  return pathOf(file).split('/')[0] ?? ''
}

/** Whether a file stands in a folder of `src/`. */
function isInRoom(file: string): boolean {
  return pathOf(file).includes('/')
}

function layerOf(name: string, room: string): number {
  const layer = LAYERS[name]?.findIndex((rooms) => rooms.includes(room)) ?? -1
  if (layer === -1) throw new Error(`packages/${name}/src/${room} is not a room of the design`)
  return layer
}

function filesWith(pattern: RegExp): string[] {
  return files.filter((file) => pattern.test(sources.get(file) ?? '')).sort()
}
