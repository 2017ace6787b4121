// Each file of the service and of the packages begins with a comment that says its part in one sentence.
import { globSync, readFileSync } from 'node:fs'
import t from 'tap'

const files = globSync(['service/*.ts', 'packages/*/src/**/*.ts']).filter(
  (file) => !file.endsWith('.gen.ts'),
)
/** A comment from the first line on, below the line that names the program of a command. */
const FIRST = /^(?:#!.*\n)?((?:\/\/ .*\n)+)/
const SENTENCE = /^[A-Z`'$][^]*[.:]$/

t.test('each file begins with its part, in a sentence', async (t) => {
  t.ok(files.length > 200, `${files.length} files`)
  for (const file of files) {
    const [, comment = ''] = FIRST.exec(readFileSync(file, 'utf8')) ?? []
    t.match(comment.replaceAll(/^\/\/ /gm, '').trim(), SENTENCE, file)
  }
})
