// Compiles the examples in docstrings and READMEs, with a contract of notes and the settings of the project.
import { globSync } from 'node:fs'
import { relative } from 'node:path'
import ts from 'typescript'

export const CONTRACT = `openapi: 3.1.0
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

const DOORS = globSync('packages/*/src/index.ts')
let doors: ts.Program | undefined

/** The exported names of a package's door. All doors are read together. */
export function exportsOf(file: string): { checker: ts.TypeChecker; symbols: ts.Symbol[] } {
  doors ??= ts.createProgram(DOORS, options)
  const checker = doors.getTypeChecker()
  const source = doors.getSourceFile(file)
  const module = source && checker.getSymbolAtLocation(source)
  return { checker, symbols: module ? checker.getExportsOfModule(module) : [] }
}

/** The declaration behind an imported name. */
export function declarationOf(checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol {
  const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0
  return isAlias ? checker.getAliasedSymbol(symbol) : symbol
}

/** The errors of these files under the project's settings. */
export function faultsOf(files: string[], folder: string): string[] {
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
