// `npm run new -- FOLDER DOCUMENT` makes a service of another contract: a copy of this one without what is only its own, with a
// class of stubs.
import { execFile } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { writeYaml } from '../read/bundle.ts'
import { inspect, type Inspected } from '../compile.ts'
import { toLines } from '../read/diagnostics.ts'
import { LEFT_OUT } from './linter.ts'
import { namesFrom } from './new-names.ts'
import { type Plan, writeChangelog, writeNginx, writeProduct, writeReadme } from './new-texts.ts'
import { classNameOf } from './stubs.ts'
import { callersFolder, shellWord, supportedAlternatives } from '@plant-store/engine/for-compiler'
import { printError, type Product, readWords, runCommand } from '@plant-store/engine'

const USAGE = `usage: new <folder> <document>   makes a service of an OpenAPI document in a new folder
  --refs-within FOLDER   a $ref may lead to its files; by default to those beside the document
  Each operation is answered 501 until its method is written.`

/** The files that only the product has: those at the top of service/ that are no program, its tests, and what it says. */
const OF_PRODUCT =
  /^(openapi\.yaml|README\.md|CHANGELOG\.md|test\/(product|released)\/.*|service\/(?!(backup|copy|dev|generate|lint|main|token)\.ts$)[^/]+\.ts)$/
/** The files that name the product. */
const NAMING = /^(Dockerfile|SECURITY\.md|deploy\/.*\.(?!png$)\w+)$/
const NGINX = 'deploy/nginx.conf'
const PRETTIER = 'node_modules/prettier/bin/prettier.cjs'

/** Runs the command. */
export function newService(product: Product): Promise<void> {
  return runCommand(USAGE, async (words) => {
    const options = { 'refs-within': { type: 'string' } } as const
    const { args, values } = readWords(words, ['<folder>', '<document>'], options)
    const typed = callersFolder('new')
    const [folder, document] = [resolve(typed, args[0]), resolve(typed, args[1])]
    if (existsSync(folder) && readdirSync(folder).length > 0)
      throw new Error(`${args[0]} is not empty: name a new folder`)
    const within = values['refs-within']
    const refsWithin = within === undefined ? undefined : resolve(typed, within)
    const described = await inspect(document, undefined, refsWithin)
    const plan = planService(document, basename(folder), described)
    const unfinished = `${folder}.unfinished`
    mkdirSync(dirname(unfinished), { recursive: true })
    mkdirSync(unfinished) // fails if it exists: nothing of a person is removed
    try {
      await makeService(product, plan, unfinished)
      renameSync(unfinished, folder)
    } catch (error) {
      rmSync(unfinished, { recursive: true, force: true })
      throw error
    }
    return sayNext(plan, args[0], existsSync(join(folder, LEFT_OUT)))
  })
}

/** What is made of a document. @throws {Error} if an operation would be refused; the lines before it say why */
export function planService(document: string, folder: string, described: Inspected): Plan {
  refuseErrors(described)
  const guards = guardsFor(described)
  const names = namesFrom(described.compiled?.title ?? '', folder)
  return {
    ...names,
    contract: contractOf(document, described),
    operations: described.operations.size,
    className: classNameOf(`${names.slug}-service.ts`),
    guards,
    isRepeatable: isRepeatable(described),
    errorBody: described.errorBody,
  }
}

/** @throws {Error} with the operations that are refused */
function refuseErrors({ errors, names }: Inspected): void {
  if (names.size === 0) throw new Error('the document has no operation: nothing is written')
  if (errors.length === 0) return
  printError(toLines(errors))
  const isRefused = (operation: string) =>
    errors.some(({ operations }) => operations === null || operations.includes(operation))
  const refused = [...names.keys()].filter(isRefused)
  const which = refused.length > 0 ? refused.join(', ') : 'a part of the document'
  throw new Error(`refused: ${which}. Nothing is written`)
}

/** The security schemes whose credentials only a guard can check, of the operations that have no other alternative. */
function guardsFor({ operations }: Inspected): string[] {
  const schemes = [...operations.values()].flatMap(({ operation }) =>
    supportedAlternatives(operation.security, {}).flat(),
  )
  const guarded = schemes.filter(({ scheme }) => scheme.type === 'other')
  return [...new Set(guarded.map(({ scheme }) => scheme.name))]
}

/** The methods whose requests have one effect, however often they come (RFC 9110, section 9.2.2). */
const IDEMPOTENT = /^(GET|HEAD|OPTIONS|PUT|DELETE)$/

/** Whether each operation may be sent a second time. */
function isRepeatable({ operations }: Inspected): boolean {
  return [...operations.values()].every(({ operation }) => IDEMPOTENT.test(operation.method))
}

/** The text of a document as one file of YAML: its bytes, if it is one. */
function contractOf(document: string, { compiled }: Inspected): string {
  const text = compiled?.bundle ?? readFileSync(document, 'utf8')
  return /^\s*\{/.test(text) ? writeYaml(parse(text, { intAsBigInt: true })) : text
}

const execute = promisify(execFile)
/** The most bytes that a program prints: the linter may say much of a document. */
const MAX_OUTPUT = 2 ** 26

/** Makes the service in an empty folder. */
async function makeService(product: Product, plan: Plan, folder: string): Promise<void> {
  const root = dirname(fileURLToPath(product.contract.file))
  await copyFiles(root, folder)
  renameProduct(product, plan, root, folder)
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text)
  write('openapi.yaml', plan.contract)
  write('README.md', writeReadme(plan))
  write('CHANGELOG.md', writeChangelog(plan))
  const nginx = readFileSync(join(folder, NGINX), 'utf8')
  write(NGINX, writeNginx(nginx, plan))
  // The packages are shared while the service is made.
  const packages = join(folder, 'node_modules')
  symlinkSync(join(root, 'node_modules'), packages, 'junction')
  const node = (...words: string[]) =>
    execute(process.execPath, words, { cwd: folder, maxBuffer: MAX_OUTPUT })
  const file = `service/${plan.slug}-service.ts`
  // The programs import a compiled contract, before there is one.
  copyFileSync(product.contract.generated, join(folder, 'service/contract.gen.ts'))
  write('service/product.ts', writeProduct(plan, false))
  await node('service/generate.ts', '--stubs', file)
  write('service/product.ts', writeProduct(plan, true))
  await node(PRETTIER, '--write', 'service/product.ts', file)
  await leaveOutProblems(folder, node)
  rmSync(packages)
  await commit(folder, `Make ${plan.title}`)
}

/** Copies the files of the clone, without those of the product. */
async function copyFiles(root: string, folder: string): Promise<void> {
  const listed = await execute('git', ['ls-files', '-z'], { cwd: root, maxBuffer: MAX_OUTPUT })
  const files = listed.stdout.split('\0').filter((file) => file !== '' && !OF_PRODUCT.test(file))
  for (const file of files.filter((name) => existsSync(join(root, name)))) {
    // With their times: what is newer than the packages would be taken for a changed setting of theirs.
    cpSync(join(root, file), join(folder, file), { preserveTimestamps: true })
  }
}

interface Package {
  readonly name: string
  readonly description: string
  readonly scripts: Record<string, string>
}

interface Lock {
  readonly packages: Record<string, object>
}

/** Replaces the names of the product in the copied files, each by its rule; and takes away the script that made the service. */
function renameProduct(product: Product, plan: Plan, root: string, folder: string): void {
  const { contract, name } = product
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Package
  const title = contract.title
  const description = `${plan.title}: a contract-first HTTP service`
  const renamed = new Map([
    [own.description, description],
    [title, plan.title],
    [own.name, plan.slug],
    [name, plan.name],
    [capitalized(name), capitalized(plan.name)],
  ])
  const names = new RegExp([...renamed.keys()].map((text) => RegExp.escape(text)).join('|'), 'g')
  for (const file of filesIn(folder).filter((path) => NAMING.test(path))) {
    const text = readFileSync(join(folder, file), 'utf8')
    writeFileSync(
      join(folder, file),
      text.replaceAll(names, (match) => renamed.get(match) ?? match),
    )
  }
  const { new: _made, ...scripts } = own.scripts
  writeJson(join(folder, 'package.json'), { ...own, name: plan.slug, description, scripts })
  const lockFile = join(folder, 'package-lock.json')
  const lock = JSON.parse(readFileSync(lockFile, 'utf8')) as Lock
  const packages = { ...lock.packages, '': { ...lock.packages[''], name: plan.slug } }
  writeJson(lockFile, { ...lock, name: plan.slug, packages })
}

const capitalized = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)

function filesIn(folder: string): string[] {
  return globSync('**/*', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
}

function writeJson(file: string, value: unknown): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
}

/** The strict rules of `redocly.yaml` hold for what is written from now on. */
async function leaveOutProblems(folder: string, node: (...words: string[]) => Promise<unknown>) {
  await node('service/lint.ts', 'openapi.yaml', '--generate-ignore-file')
  const file = join(folder, LEFT_OUT)
  const isClean = Object.keys(parse(readFileSync(file, 'utf8')) as object).length === 0
  if (isClean) rmSync(file)
}

/** Makes a repository with one commit. The author is the user of git's configuration. If there is none, it is the service. */
async function commit(folder: string, message: string): Promise<void> {
  const git = (...words: string[]) => execute('git', words, { cwd: folder })
  await git('init', '--quiet', '--initial-branch=main')
  await git('add', '--all')
  const isNamed = await git('var', 'GIT_AUTHOR_IDENT').then(
    () => true,
    () => false,
  )
  const author = isNamed ? [] : ['-c', 'user.name=service', '-c', 'user.email=service@localhost']
  await git(...author, 'commit', '--quiet', '--no-verify', '--no-gpg-sign', '--message', message)
}

/** What the person does next. */
function sayNext(plan: Plan, folder: string, hasProblems: boolean): string[] {
  const { title, operations, guards, errorBody, slug } = plan
  return [
    `${folder} has the service ${title}, with ${operations} operations: cd ${shellWord(folder)} && npm ci && npm start`,
    `write the methods in service/${slug}-service.ts: until then they are answered 501`,
    ...guards.map(
      (name) => `write the guard ${name} in service/product.ts: until then it lets nobody in`,
    ),
    ...(errorBody === undefined
      ? []
      : ['look at errorBody in service/product.ts: it was made from the schema of an error']),
    ...(hasProblems
      ? [`${LEFT_OUT} has what the linter says of the document: \`npm run check\` leaves it out`]
      : []),
  ]
}
