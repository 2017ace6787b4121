// The names of the doors: each of them has an example in its docstring, which compiles. The examples are files beside a
// product that keeps notes: the example of `defineProduct` is its product.ts, and that of `Collection` its note-service.ts.
import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { generateTypes } from '../packages/compiler/src/commands/generate.ts'

const PACKAGES = ['engine', 'compiler', 'store']
/** The files of the product that the examples import, by the names that they are the examples of. */
const FILES: Readonly<Record<string, string>> = {
  'product.ts': 'engine.defineProduct.ts',
  'note-service.ts': 'engine.Collection.ts',
}
const CONTRACT = `openapi: 3.1.0
info: { title: Notes, version: 1.0.0 }
paths:
  /notes/{id}:
    get:
      operationId: getNote
      security: [{ token: [] }]
      parameters:
        - { name: id, in: path, required: true, schema: { type: integer, format: int64 } }
      responses:
        '200':
          description: The note
          content: { application/json: { schema: { $ref: '#/components/schemas/Note' } } }
        default:
          description: An error
          content: { application/json: { schema: { $ref: '#/components/schemas/Error' } } }
        '404':
          description: There is no such note
          content: { application/json: { schema: { $ref: '#/components/schemas/Error' } } }
components:
  securitySchemes:
    token: { type: http, scheme: bearer }
  schemas:
    Note:
      type: object
      required: [text]
      properties: { text: { type: string, maxLength: 1000 } }
    Error:
      type: object
      required: [error, message]
      properties: { error: { type: integer }, message: { type: string } }
`

const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile('tsconfig.json', (path) => ts.sys.readFile(path)).config,
  ts.sys,
  '.',
)

t.test('each name of each door has an example, and all examples compile', async (t) => {
  const folder = t.testdir()
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text)
  write('openapi.yaml', CONTRACT)
  const generated = join(folder, 'contract.gen.ts')
  const collections = { notes: { schema: 'Note', key: 'int64' } } as const
  write(
    'contract.gen.ts',
    await generateTypes(join(folder, 'openapi.yaml'), generated, { collections }),
  )
  for (const [file, example] of Object.entries(FILES)) write(file, `export * from './${example}'\n`)

  const examples = readExamples()
  t.ok(examples.size > 25, 'the doors have names')
  for (const [name, texts] of examples) {
    t.ok(texts.length > 0, `${name} has an example`)
    write(`${name}.ts`, texts.join('\n'))
  }
  const files = [...examples.keys()].map((name) => join(folder, `${name}.ts`))
  t.strictSame(faultsOf([...files, generated], folder), [])
})

/** The examples of each name that a door exports, such as `engine.defineProduct`, without the fences around them. */
function readExamples(): Map<string, string[]> {
  const doors = new Map(PACKAGES.map((name) => [name, `packages/${name}/src/index.ts`]))
  const program = ts.createProgram([...doors.values()], options)
  const checker = program.getTypeChecker()
  const examples = new Map<string, string[]>()
  for (const [name, door] of doors) {
    const source = program.getSourceFile(door)
    const module = source && checker.getSymbolAtLocation(source)
    for (const symbol of module ? checker.getExportsOfModule(module) : []) {
      const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0
      const declared = isAlias ? checker.getAliasedSymbol(symbol) : symbol
      const tags = declared.getJsDocTags(checker).filter(({ name }) => name === 'example')
      const texts = tags.map(({ text }) => ts.displayPartsToString(text))
      examples.set(
        `${name}.${symbol.name}`,
        texts.map((text) => text.replaceAll(/^```(ts)?$/gm, '')),
      )
    }
  }
  return examples
}

/** The faults that the compiler finds in these files, as the project's settings say. */
function faultsOf(files: string[], folder: string): string[] {
  const program = ts.createProgram(files, options)
  const diagnostics = files.flatMap((file) => {
    const source = program.getSourceFile(file)
    return source ? ts.getPreEmitDiagnostics(program, source) : []
  })
  return diagnostics.map(({ file, messageText }) => {
    const place = file ? relative(folder, file.fileName) : ''
    return `${place}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
  })
}
