// Strings of a document stay harmless in code, comments, Markdown and commands, whatever its author writes.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import ts from 'typescript'
import { generateTypes, inspect } from '../../../test/support/inner/compiler.ts'
import { toLines } from '../src/read/diagnostic-lines.ts'
import { Examples } from '../src/operations/examples.ts'
import { writeAgents, writeChangelog, writeReadme } from '../src/commands/new-pages.ts'
import { type Plan, planService } from '../src/commands/new-plan.ts'
import { writeProduct, writeTest } from '../src/commands/new-texts.ts'
import {
  docComment,
  keyCode,
  linesCode,
  lineComments,
  markdown,
  stringCode,
  valueCode,
} from '../src/operations/printing.ts'
import { writeClass } from '../src/commands/stubs.ts'
import { shellString } from '../../engine/src/ops/shell.ts'
import { shellWord } from '@plant-store/engine/for-compiler'
import {
  documentWith,
  GRAMMAR,
  HOSTILE,
} from '../../../test/support/contracts/hostile-documents.ts'

/** Characters with an effect on lines, or on the direction of writing. */
const UNPRINTED = /[\n\r\u2028\u2029\u202e]/
const TEXTS = [...Object.values(HOSTILE), '', ' ', '-', '\\', '\0', '\ud800', '\u00a0', '🌱', '~a']

t.test('a string is printed as code of the same string', async (t) => {
  for (const text of TEXTS) {
    const value = { [text]: [text, { '': text }, 12345678901234567890n, -0, 1e400, true, null] }
    const codes = [stringCode(text), keyCode(text), valueCode(value), linesCode(value, '  ')]
    for (const code of codes) t.notMatch(code, /[\r\u2028\u2029\u202e]/u)
    for (const code of codes.slice(0, 3)) t.notMatch(code, '\n')
    t.equal(runInNewContext(stringCode(text)), text)
    for (const code of codes.slice(2)) {
      const read = runInNewContext(`(${code})`) as object
      t.strictSame(structuredClone(read), structuredClone(value))
      t.strictSame(Object.keys(read), [text])
    }
    const names = namesOf(t, `class A { static ${keyCode(text)} = 1 }`)
    t.strictSame(
      names.filter((name) => name !== text),
      ['A'],
    )
  }
})

t.test('a comment is printed as nothing but comments', async (t) => {
  for (const text of TEXTS)
    for (const code of [lineComments(text).join('\n'), docComment(text)])
      t.equal(statementsOf(t, `${code}\n`).length, 0)
})

t.test('a text is printed into a line of Markdown without markup', async (t) => {
  for (const text of TEXTS) {
    const line = markdown(text)
    t.notMatch(line, /[\n\r\u2028\u2029\u202e]/u)
    t.notMatch(line.replaceAll(/\\[!-/:-@[-`{-~]/g, ''), /[\\`*_~[\]<>&#|!$]|:\/\//)
  }
})

t.test('a word of a command is one word of a shell, and is not run', async (t) => {
  for (const text of TEXTS) {
    if (/[\0\ud800]/.test(text)) continue // no argument can hold it
    for (const word of [shellString(text), shellWord(text)]) {
      const printed = execFileSync('sh', ['-c', `printf '%s|' ${word}`], { encoding: 'utf8' })
      t.equal(printed, `${text}|`)
    }
  }
  t.equal(shellWord('http://127.0.0.1:3000/v1'), 'http://127.0.0.1:3000/v1')
})

t.test('a document of a stranger becomes no code', async (t) => {
  const folder = t.testdir()
  const files: string[] = []
  for (const [index, [name, text]] of Object.entries(HOSTILE).entries()) {
    const places = await placesFor(t, `${folder}/openapi.yaml`, text)
    t.comment(`${name}: ${places.size} places`)
    mkdirSync(`${folder}/${index}`)
    const printed = await printAll(
      `${folder}/${index}`,
      documentWith(text, (place) => places.has(place)),
    )
    checkMarkdown(t, printed.plan)
    for (const [file, code] of Object.entries(printed.codes)) {
      t.notOk(namesOf(t, code).includes('owned'), `${file} of ${name}`)
      writeFileSync(`${folder}/${index}/${file}`, code)
      files.push(`${folder}/${index}/${file}`)
    }
  }
  const used = files.filter((file) => !file.endsWith('pasted.ts')) // its methods leave parameters unused
  t.strictSame(checkTypes(used), [], 'it is what the rest of the service expects')
})

t.test('an address of a provider is one source of a policy, or none', async (t) => {
  const hosts = ['a.example', 'a_b.example:8443', '[::1]:3000', 'xn--bcher-kva.example']
  const hostile = ['*', '*.example', 'a;b', 'a,b', "a'b", 'a"b', "'none'", 'a(b)', 'a b', 'a%3Bb']
  const flow = (host: string) => ({ tokenUrl: `https://${host}/token`, scopes: {} })
  const folder = t.testdir()
  for (const host of [...hosts, ...hostile]) {
    const operation = { security: [{ o: [] }], responses: { 204: { description: 'Done' } } }
    const document = {
      openapi: '3.1.0',
      info: { title: 'Small', version: '1.0.0' },
      paths: { '/x': { get: operation } },
      components: {
        securitySchemes: { o: { type: 'oauth2', flows: { clientCredentials: flow(host) } } },
      },
    }
    writeFileSync(`${folder}/openapi.yaml`, JSON.stringify(document))
    const { compiled } = await inspect(`${folder}/openapi.yaml`)
    t.strictSame(compiled?.providers, hosts.includes(host) ? [`https://${host}`] : [], host)
  }
})

/** The places of a document where a string is served. */
async function placesFor(t: Test, file: string, text: string): Promise<ReadonlySet<string>> {
  const places = new Set<string>()
  documentWith(text, (place) => Boolean(places.add(place)) && false)
  const refused = new Set<string>()
  for (const place of places) {
    if (!GRAMMAR.test(place) && text !== '__proto__') continue
    writeFileSync(
      file,
      documentWith(text, (name) => name === place),
    )
    const lines = toLines((await inspect(file)).errors)
    if (lines.length > 0) refused.add(place)
    for (const line of lines) t.notMatch(line, UNPRINTED)
  }
  const isInvisible = UNPRINTED.test(text)
  if (isInvisible) t.ok(refused.has('an operationId'), 'refused as an operationId')
  return places.difference(refused)
}

/** Writes all generated files of a document into a folder. */
async function printAll(folder: string, document: string) {
  const file = `${folder}/openapi.yaml`
  writeFileSync(file, document)
  const plan = planService(
    { document: file, folder: 'small', name: undefined },
    await inspect(file),
  )
  const hooks = { guards: Object.fromEntries(plan.guards.map((name) => [name, () => undefined])) }
  const { schemas, operations } = await inspect(file, hooks)
  const examples = new Examples(schemas)
  const methods = [...operations.values()].map((operation) => {
    return { id: operation.normal.id, method: examples.of(operation).method }
  })
  const named = { ...plan, slug: 'stubs', className: 'Stubs' }
  const pasted = methods.map(({ method }) => method).join('\n')
  const codes = {
    'contract.gen.ts': await generateTypes(file, `${folder}/contract.gen.ts`, hooks),
    'product.ts': writeProduct(named, []),
    'first.test.ts': writeTest(named).replace('../service/', './'),
    'stubs-service.ts': writeClass({ name: 'Stubs', code: '.', methods }),
    'pasted.ts': `export class Pasted {\n${pasted}\n}\n`,
  }
  return { plan, codes }
}

function checkMarkdown(t: Test, plan: Plan): void {
  const tame = { ...plan, title: 'Small', guards: plan.guards.map(() => 'login') }
  const readme = (shown: Plan) => writeReadme(shown, 'https://here.example', false)
  for (const write of [readme, writeAgents, writeChangelog]) {
    const [lines, usual] = [write(plan).split(/[\n\r\u2028\u2029]/), write(tame).split('\n')]
    t.equal(lines.length, usual.length)
    const changed = lines.filter((line, index) => line !== usual[index]).join('\n')
    t.notMatch(changed, /\]\(https:\/\/owned|<b>/)
  }
}

function statementsOf(t: Test, code: string): readonly ts.Statement[] {
  const { diagnostics = [] } = ts.transpileModule(code, { reportDiagnostics: true })
  t.strictSame(diagnostics.map(messageOf), [])
  return ts.createSourceFile('a.ts', code, ts.ScriptTarget.ESNext, true).statements
}

/** The identifiers in code, outside of strings and comments. */
function namesOf(t: Test, code: string): string[] {
  const names: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) names.push(node.text)
    ts.forEachChild(node, visit)
  }
  statementsOf(t, code).forEach(visit)
  return names
}

/** The errors of TypeScript in files. */
function checkTypes(files: readonly string[]): string[] {
  const { config } = ts.readConfigFile('tsconfig.json', (path) => ts.sys.readFile(path)) as {
    config: unknown
  }
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, resolve())
  const program = ts.createProgram(files, options)
  const diagnostics = ts.getPreEmitDiagnostics(program)
  return diagnostics.map(
    (diagnostic) => `${diagnostic.file?.fileName ?? ''}: ${messageOf(diagnostic)}`,
  )
}

function messageOf({ messageText }: ts.Diagnostic): string {
  return ts.flattenDiagnosticMessageText(messageText, '\n')
}
