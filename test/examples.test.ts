// The names of the doors: each of them has an example in its docstring, which compiles. The examples are files beside a
// product of notes: the example of `defineProduct` is its product.ts, and the example of `Collection` its note-service.ts.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { generateTypes } from './support/inner/compiler.ts'
import { CONTRACT, declarationOf, exportsOf, faultsOf } from './support/doors/example-programs.ts'

const PACKAGES = ['engine', 'compiler', 'store']
/** The files of the product that the examples import, and the examples in them. */
const FILES: Readonly<Record<string, string>> = {
  'product.ts': 'engine.defineProduct.0.ts',
  'note-service.ts': 'engine.Collection.0.ts',
}

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
    for (const [at, text] of texts.entries()) write(`${name}.${at}.ts`, text)
  }
  const files = [...examples].flatMap(([name, texts]) =>
    texts.map((_, at) => join(folder, `${name}.${at}.ts`)),
  )
  t.strictSame(faultsOf([...files, generated], folder), [])
})

/** The examples of each exported name, such as `engine.defineProduct`, without the fences around them. */
function readExamples(): Map<string, string[]> {
  const examples = new Map<string, string[]>()
  for (const name of PACKAGES) {
    const { checker, symbols } = exportsOf(`packages/${name}/src/index.ts`)
    for (const symbol of symbols) {
      const tags = declarationOf(checker, symbol).getJsDocTags(checker)
      const texts = tags
        .filter(({ name }) => name === 'example')
        .map(({ text }) => ts.displayPartsToString(text))
      examples.set(
        `${name}.${symbol.name}`,
        texts.map((text) => text.replaceAll(/^```(ts)?$/gm, '')),
      )
    }
  }
  return examples
}
