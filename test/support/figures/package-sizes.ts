// Prints the size of each package and of the tests, to know and not to obey: files, lines by hand, and tokens a line. A line
// with many tokens is read twice.
import { globSync, readFileSync } from 'node:fs'
import ts from 'typescript'

const PLACES = {
  service: 'service/*.ts',
  'json-schema': 'packages/json-schema/src/**/*.ts',
  engine: 'packages/engine/src/**/*.ts',
  store: 'packages/store/src/**/*.ts',
  compiler: 'packages/compiler/src/**/*.ts',
  testing: 'packages/testing/src/**/*.ts',
  tests: '{test,packages/*/test}/**/*.ts',
}

const row = (cells: readonly (string | number)[]) =>
  cells
    .map((cell) => String(cell).padEnd(12))
    .join('')
    .trimEnd()

console.log(row(['', 'files', 'lines', 'tokens a line']))
for (const [name, pattern] of Object.entries(PLACES)) {
  const files = globSync(pattern, { exclude: ['**/*.gen.ts', 'test/system/release/clients/**'] })
  const sizes = files.map((file) => sizeOf(readFileSync(file, 'utf8')))
  const lines = sizes.reduce((sum, size) => sum + size.lines, 0)
  const code = sizes.reduce((sum, size) => sum + size.code, 0)
  const tokens = sizes.reduce((sum, size) => sum + size.tokens, 0)
  console.log(row([name, files.length, lines, (tokens / code).toFixed(1)]))
}

/** The lines of a file, its lines with code, and its tokens without white space and comments. */
function sizeOf(text: string): { lines: number; code: number; tokens: number } {
  const file = ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest)
  const withCode = new Set<number>()
  let tokens = 0
  const visit = (node: ts.Node): void => {
    const children = node.getChildren(file)
    children.forEach(visit)
    if (children.length > 0 || node.getWidth(file) === 0) return
    tokens += 1
    withCode.add(file.getLineAndCharacterOfPosition(node.getStart(file)).line)
  }
  visit(file)
  return { lines: text.split('\n').length - 1, code: withCode.size, tokens }
}
