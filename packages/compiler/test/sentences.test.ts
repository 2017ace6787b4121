// Each error and warning about a document has a code and values. Its sentence is made at the end, and no program reads it.
import { globSync, readFileSync } from 'node:fs'
import t from 'tap'
import { toLines } from '../src/read/diagnostic-lines.ts'
import { OF_BODIES } from '../src/sentences/of-bodies.ts'
import { OF_DOCUMENTS } from '../src/sentences/of-documents.ts'
import { OF_OPERATIONS } from '../src/sentences/of-operations.ts'
import { OF_SCHEMAS } from '../src/sentences/of-schemas.ts'
import { type Finding, identityOf, SENTENCES, sentenceOf } from '../src/sentences/sentences.ts'

const TABLES = [OF_BODIES, OF_DOCUMENTS, OF_OPERATIONS, OF_SCHEMAS]
const FOLDER = 'packages/compiler/src'
const sources = globSync(`${FOLDER}/!(sentences)/**/*.ts`).concat(`${FOLDER}/compile.ts`)
const code = sources.map((file) => readFileSync(file, 'utf8')).join('\n')

t.test('each code is used, and has a sentence of its own', async (t) => {
  const codes = TABLES.flatMap((table) => Object.keys(table))
  t.strictSame(codes.toSorted(), Object.keys(SENTENCES).toSorted(), 'no code is in two tables')
  t.strictSame(
    codes.filter((name) => !code.includes(`'${name}'`) && name !== 'misspelt'),
    [],
    'each is reported somewhere',
  )
  const sentences = Object.values(SENTENCES)
  t.strictSame(sentences.length, new Set(sentences).size, 'no sentence has two codes')
  const rules = readFileSync(`${FOLDER}/read/refusals.yaml`, 'utf8')
  t.strictSame(
    codes.filter((name) => rules.includes(`rule/${name}:`)),
    [],
    'no code is the id of a rule',
  )
})

t.test('a sentence has the values of its finding, and those of a finding within it', async (t) => {
  const fault: Finding = { code: 'impossible-size', minimum: 'a', least: 2, maximum: 'b', most: 1 }
  const finding: Finding = { code: 'impossible-property', name: '$&<fault>', fault }
  t.equal(
    sentenceOf(finding),
    'it requires $&<fault>, but nothing fits it: a 2 is above b 1',
    'a string of the document is no placeholder',
  )
  t.equal(
    sentenceOf({ rule: 'struct', message: 'No `a` here.', meant: 'b' }),
    'No `a` here. Did you mean b?',
  )
})

t.test('findings are equal by their code and their values', async (t) => {
  const at = { file: 'a.yaml', line: 1 }
  const lines = (findings: readonly Finding[]) =>
    toLines(findings.map((finding) => ({ at, finding, count: 1, operations: null })))
  const finding: Finding = { code: 'media-type-listed', range: 'a/b;c', type: 'a/b' }
  const same: Finding = { type: 'a/b', range: 'a/b;c', code: 'media-type-listed' }
  t.equal(identityOf(finding), identityOf(same))
  const line = `a.yaml:1: ${sentenceOf(finding)}`
  t.strictSame(lines([finding, same, finding, same]), [
    ...[line, line, line],
    `and 1 more: ${sentenceOf(finding)}`,
  ])
  const dangling: Finding = { code: 'reference-dangling' }
  const linter = { rule: 'no-unresolved-refs', message: sentenceOf(dangling), meant: undefined }
  t.not(identityOf(dangling), identityOf(linter), 'the same sentence, for another reason')
})

/** A call that searches a string for two words of English. */
const READS_ENGLISH =
  /\.(includes|startsWith|endsWith|indexOf|match|search)\(\s*['"`/][^'"`\n]*[a-z]{2,} [a-z]{2,}/

t.test('no program decides by an English sentence', async (t) => {
  const files = globSync(['packages/*/src/**/*.ts', 'service/*.ts'])
  t.ok(files.length > 100)
  t.strictSame(
    files.filter((file) => READS_ENGLISH.test(readFileSync(file, 'utf8'))),
    [],
  )
  t.match("error.message.includes('not found')", READS_ENGLISH, 'the pattern finds one')
})
